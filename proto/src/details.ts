import type { Diagnostic } from "./diagnostic.ts";
import { defineMember, type JsonObject, type JsonValue } from "./json.ts";
import { MAX_DETAILS_BYTES, MAX_DETAILS_DEPTH, MAX_EXCERPT_LENGTH } from "./limits.ts";
import { REDACTED, redactAndCut, redactText } from "./redact.ts";
import { checkReservedMember, type ReservedDetails } from "./reserved-details.ts";
import { isSecretFlag, isSecretMember } from "./secret-names.ts";
import { utf8Length, wellFormed } from "./text.ts";

/**
 * Free-form facts beside the lifecycle: JSON, redacted, at most 8 levels and 16 KiB, with reserved members typed (N4).
 * `truncated: true` at the top says that something did not fit.
 */
export type Details = ReservedDetails & { readonly truncated?: true } & JsonObject;

export interface SanitizedDetails {
  readonly details: Details | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const TRUNCATED = "truncated";
const MAX_DETAIL_DIAGNOSTICS = 8;
const MARK_BYTES = utf8Length(`,"${TRUNCATED}":true`);

/**
 * Redacts, bounds and checks an event's `details`. Never rejects: what breaks a rule is left out and said so.
 * Applying it to its own result changes nothing.
 */
export function sanitizeDetails(raw: Readonly<Record<string, unknown>>): SanitizedDetails {
  const walk = new DetailsWalk();
  const details = fitIntoBytes(walk.members(raw, 1), walk);
  return {
    details: Object.keys(details).length === 0 ? undefined : (details as Details),
    diagnostics: walk.diagnostics,
  };
}

/** One pass over untrusted JSON; collects what it left out. */
class DetailsWalk {
  readonly diagnostics: Diagnostic[] = [];
  cut = false;
  /** No less than the UTF-8 bytes that what was kept so far takes as JSON. */
  mostBytes = 2;

  report(diagnostic: Diagnostic): void {
    if (this.diagnostics.length < MAX_DETAIL_DIAGNOSTICS) this.diagnostics.push(diagnostic);
  }

  /** The members that may stay, redacted; at the top (depth 1) the reserved ones only in their own form. */
  members(holder: Readonly<Record<string, unknown>>, depth: number): Record<string, JsonValue> {
    const kept: Record<string, JsonValue> = {};
    const pairsSecret = isSecretPair(holder);
    for (const name of Object.keys(holder)) {
      if (FORBIDDEN_NAMES.has(name)) {
        this.report({ code: "member_name_forbidden", path: name });
        continue;
      }
      const raw = holder[name];
      const secret = isSecretMember(name, raw) || (pairsSecret && name === "value");
      const value = secret ? this.text(REDACTED) : this.value(raw, depth);
      if (value !== undefined) this.keep(kept, this.text(redactText(wellFormed(name))), value, depth);
    }
    return kept;
  }

  private keep(kept: Record<string, JsonValue>, name: string, value: JsonValue, depth: number): void {
    const problem = depth === 1 ? checkReservedMember(name, value) : undefined;
    if (problem === undefined) defineMember(kept, name, value);
    else this.report({ code: "reserved_member_malformed", path: `details.${problem}` });
  }

  private value(value: unknown, depth: number): JsonValue | undefined {
    if (typeof value === "string") return this.text(redactText(wellFormed(value)));
    this.mostBytes += MOST_BYTES_BESIDE_TEXT;
    if (value === null || typeof value === "boolean") return value;
    // Adding 0 turns -0, which JSON cannot tell from 0, into it.
    if (typeof value === "number") return Number.isFinite(value) ? value + 0 : null;
    if (typeof value !== "object") return undefined;
    if (depth >= MAX_DETAILS_DEPTH) {
      this.cut = true;
      return undefined;
    }
    if (Array.isArray(value)) return this.list(value, depth);
    return this.members(value as Readonly<Record<string, unknown>>, depth + 1);
  }

  /** A command line in pieces hides a secret in the piece behind its flag: `["--api-key", "…"]`. */
  private list(items: readonly unknown[], depth: number): readonly JsonValue[] {
    return items.map((item, index) => {
      const secret = typeof item === "string" && !item.startsWith("-") && isSecretFlag(items[index - 1]);
      return secret ? this.text(REDACTED) : (this.value(item, depth + 1) ?? null);
    });
  }

  private text(text: string): string {
    this.mostBytes += text.length * MOST_BYTES_A_UNIT + MOST_BYTES_BESIDE_TEXT;
    return text;
  }
}

/** A control character is escaped as `\u0000`; any other takes less. */
const MOST_BYTES_A_UNIT = 6;
/** A number in full, or brackets, and the marks around it. */
const MOST_BYTES_BESIDE_TEXT = 32;

/** `{ "name": "API_KEY", "value": "…" }`: a list of variables or headers spells its members this way. */
function isSecretPair(holder: Readonly<Record<string, unknown>>): boolean {
  if (!Object.hasOwn(holder, "value")) return false;
  const name = holder.name ?? holder.key;
  return typeof name === "string" && isSecretMember(name, holder.value);
}

/** Leaves out whole top-level members, the last ones first to go, until the rest fits. */
function fitIntoBytes(members: Readonly<Record<string, JsonValue>>, walk: DetailsWalk): JsonObject {
  const marked = walk.cut || members[TRUNCATED] === true;
  if (!marked && walk.mostBytes + MARK_BYTES <= MAX_DETAILS_BYTES) return members;
  let bytes = 2 + MARK_BYTES;
  const kept: Record<string, JsonValue> = {};
  let cut = walk.cut;
  for (const name of Object.keys(members)) {
    if (name === TRUNCATED && members[name] === true) continue;
    const value = members[name] as JsonValue;
    const size = utf8Length(JSON.stringify(name)) + utf8Length(JSON.stringify(value)) + 2;
    if (bytes + size <= MAX_DETAILS_BYTES) {
      bytes += size;
      defineMember(kept, name, value);
    } else {
      cut = true;
      const shortened = shortenText(value, MAX_DETAILS_BYTES - bytes - utf8Length(JSON.stringify(name)) - 2);
      if (shortened === undefined) continue;
      bytes = MAX_DETAILS_BYTES;
      defineMember(kept, name, shortened);
    }
  }
  if (cut) walk.report({ code: "details_cut", path: "details" });
  return cut || marked ? { ...kept, [TRUNCATED]: true } : kept;
}

/** A long text is more use cut than gone; the cut must leave room for escapes, so it counts every character as six bytes. */
function shortenText(value: JsonValue, room: number): string | undefined {
  if (typeof value !== "string") return undefined;
  const characters = Math.floor((room - 2) / 6);
  return characters >= MAX_EXCERPT_LENGTH ? redactAndCut(value, characters) : undefined;
}
