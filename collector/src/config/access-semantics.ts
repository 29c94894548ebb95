import { isAlternativeName } from "./alternative-name.ts";
import type { CertificateConfiguration, CollectorConfiguration, TokenConfiguration } from "./configuration.ts";
import { asksForCertificates } from "./listener-semantics.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";

type GrantConfiguration = TokenConfiguration | CertificateConfiguration;

/** What is wrong with the tokens and with what client certificates may do. No text holds a token. */
export function accessProblems(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  const { tokens, certificates } = configuration.access;
  return [
    ...tokens.flatMap((token, index) => {
      const path = ["access", "tokens", index];
      const earlier = tokens.slice(0, index);
      return [...grantProblems(token, earlier, path), ...tokenProblems(token, earlier, path)];
    }),
    ...certificates.flatMap((certificate, index) => {
      const path = ["access", "certificates", index];
      const earlier = certificates.slice(0, index);
      return [
        ...grantProblems(certificate, [...tokens, ...earlier], path),
        ...certificateProblems(certificate, earlier, path),
      ];
    }),
    ...(certificates.length > 0 && !asksForCertificates(configuration) ? [NOBODY_SHOWS_ANY] : []),
  ];
}

const NOBODY_SHOWS_ANY: ConfigurationProblem = {
  path: ["access", "certificates"],
  text: "no listener that runs asks for client certificates: set `tls.client_ca_file` of one",
};

/** What tokens and certificates have in common. */
function grantProblems(
  { name, scopes, sources }: GrantConfiguration,
  earlier: readonly GrantConfiguration[],
  path: ConfigurationPath,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (name === "") problems.push({ path: [...path, "name"], text: "must not be empty" });
  if (scopes.length === 0) {
    problems.push({ path: [...path, "scopes"], text: "a grant without a scope is good for nothing" });
  }
  if (sources?.length === 0) {
    const text = "an empty list lets it speak for no source; leave it out to let it speak for any";
    problems.push({ path: [...path, "sources"], text });
  }
  if (earlier.some((other) => other.name === name)) {
    const text = "another token or certificate has this name: the audit could not tell them apart";
    problems.push({ path: [...path, "name"], text });
  }
  return problems;
}

function tokenProblems(
  { token, tokenFile }: TokenConfiguration,
  earlier: readonly TokenConfiguration[],
  path: ConfigurationPath,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if ((token === undefined) === (tokenFile === undefined)) {
    problems.push({ path, text: "needs either token or token_file" });
  }
  if (token === undefined) return problems;
  if (!isHeaderValue(token)) {
    const text = "must be printable ASCII without spaces, as it travels in a header";
    problems.push({ path: [...path, "token"], text });
  }
  if (earlier.some((other) => other.token === token)) {
    problems.push({ path: [...path, "token"], text: "another entry has the same token: nobody could tell them apart" });
  }
  return problems;
}

function isHeaderValue(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

function certificateProblems(
  certificate: CertificateConfiguration,
  earlier: readonly CertificateConfiguration[],
  path: ConfigurationPath,
): readonly ConfigurationProblem[] {
  const stated = Object.entries(CERTIFICATE_NAMES).filter(([, member]) => certificate[member] !== undefined);
  if (stated.length !== 1) return [{ path, text: "needs exactly one of subject, common_name and alternative_name" }];
  return stated.flatMap(([spelling, member]) => {
    const name = certificate[member] ?? "";
    const place = [...path, spelling];
    if (name === "") return [{ path: place, text: "must not be empty" }];
    if (member === "alternativeName" && !isAlternativeName(name)) {
      return [{ path: place, text: "must be one name with its kind: DNS:…, URI:… or email:…" }];
    }
    const isTaken = earlier.some((other) => other[member] === name);
    return isTaken
      ? [{ path: place, text: "another entry names the same certificates: this one would never count" }]
      : [];
  });
}

const CERTIFICATE_NAMES = {
  subject: "subject",
  common_name: "commonName",
  alternative_name: "alternativeName",
} as const;
