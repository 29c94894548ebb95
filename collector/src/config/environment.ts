/** What became of a text with `${env:…}` in it. */
export type Substitution =
  | {
      readonly kind: "substituted";
      readonly text: string;
      /** Something of it came from outside: it may be a secret, and is never shown. */
      readonly isFromEnvironment: boolean;
    }
  /** What is wrong with it; no values. */
  | { readonly kind: "refused"; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$|\$\{([^}]*)\}?/g;
const REFERENCE_RULE = `a reference must be \${env:NAME} or \${env:NAME:-default}; two dollar signs stand for one`;
const VARIABLE = /^env:([A-Za-z_][A-Za-z0-9_]{0,255})(?::-([\s\S]*))?$/;

/**
 * Replaces `${env:NAME}` and `${env:NAME:-default}`, and `$$` by a dollar sign. What comes in is not looked at again: a
 * variable cannot name another one. A variable that is not set and has no default is a problem; an empty one is empty,
 * and takes the default.
 */
export function substitute(text: string, environment: Environment): Substitution {
  const problems: string[] = [];
  let isFromEnvironment = false;
  const substituted = text.replaceAll(REFERENCE, (reference: string, inner: string | undefined) => {
    if (inner === undefined) return "$";
    const match = reference.endsWith("}") ? VARIABLE.exec(inner) : null;
    if (match === null) {
      problems.push(REFERENCE_RULE);
      return "";
    }
    const [, name = "", fallback] = match;
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) {
      isFromEnvironment = true;
      return value;
    }
    if (fallback === undefined) problems.push(`the environment variable ${name} is not set, and has no default here`);
    return fallback ?? "";
  });
  return problems.length > 0
    ? { kind: "refused", problems }
    : { kind: "substituted", text: substituted, isFromEnvironment };
}

/** What YAML's core schema takes a scalar without quotes for. */
export function plainScalar(text: string): string | number | boolean | null {
  if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^0o[0-7]+$/.test(text) || /^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
  return text;
}
