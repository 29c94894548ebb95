import { MAX_DETAILS_BYTES, MAX_DETAILS_DEPTH, REDACTED, sanitizeDetails, utf8Length } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryDetails } from "../../kit/arbitraries.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function nested(levels: number): unknown {
  return levels === 0 ? "deep" : { inner: nested(levels - 1) };
}

describe("limits of details", () => {
  test("eight levels stay, the ninth goes and is marked", () => {
    const kept = sanitizeDetails(nested(MAX_DETAILS_DEPTH) as Record<string, unknown>);
    expect(kept).toEqual({ details: nested(MAX_DETAILS_DEPTH), diagnostics: [] });
    const cut = sanitizeDetails(nested(MAX_DETAILS_DEPTH + 1) as Record<string, unknown>);
    expect(cut.details?.truncated).toBe(true);
    expect(cut.diagnostics).toEqual([{ code: "details_cut", path: "details" }]);
    expect(depthOf(cut.details)).toBe(MAX_DETAILS_DEPTH);
  });

  test("a member that does not fit goes, those around it stay", () => {
    const big = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, index]));
    const { details, diagnostics } = sanitizeDetails({ before: 1, big, after: 2 });
    expect(details).toEqual({ before: 1, after: 2, truncated: true });
    expect(diagnostics).toEqual([{ code: "details_cut", path: "details" }]);
  });

  test("a long text is cut and not dropped", () => {
    const { details } = sanitizeDetails({ output: "é".repeat(20_000) });
    expect(details?.truncated).toBe(true);
    expect(String(details?.output).length).toBeGreaterThan(1000);
  });

  test("whatever comes in, what comes out keeps both limits and does not change again", () => {
    const large = fc.dictionary(
      fc.string({ maxLength: 10 }),
      fc.string({ unit: "binary", minLength: 2000, maxLength: 9000 }),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(fc.oneof(arbitraryDetails(), large), (raw) => {
        const { details } = sanitizeDetails(raw);
        if (details === undefined) return;
        expect(utf8Length(JSON.stringify(details))).toBeLessThanOrEqual(MAX_DETAILS_BYTES);
        expect(depthOf(details)).toBeLessThanOrEqual(MAX_DETAILS_DEPTH);
        expect(sanitizeDetails(details).details).toEqual(details);
      }),
      { numRuns: 300 },
    );
  });

  test("diagnostics are bounded", () => {
    const raw = {
      exitCode: "x",
      pid: -1,
      name: 5,
      model: 5,
      tool: 5,
      cause: 5,
      host: 5,
      signal: 5,
      usage: 5,
      waitingOn: 5,
      inferred: 5,
    };
    expect(sanitizeDetails(raw).details).toBeUndefined();
    expect(sanitizeDetails(raw).diagnostics).toHaveLength(8);
  });
});

describe("N4: reserved members", () => {
  test.each([
    ["name", "Researcher"],
    ["agentType", "explore"],
    ["model", "m-1"],
    ["routingProfile", "UNPROFILED"],
    ["tool", "Bash"],
    ["waitingOn", { kind: "permission", text: "rm -r build" }],
    ["cause", "timeout"],
    ["exitCode", -1],
    ["signal", "SIGTERM"],
    ["inferred", true],
    ["usage", { inputTokens: 812, outputTokens: 40, costUsd: 0.02, toolCalls: 3 }],
    ["transcriptRef", "file:transcripts/7.jsonl"],
    ["resultRef", "result-7"],
    ["pid", 4711],
    ["host", "build-7"],
    ["cancelRequestedAt", "2026-09-01T09:00:00Z"],
  ])("%s stays as it is", (name, value) => {
    expect(sanitizeDetails({ [name]: value })).toEqual({ details: { [name]: value }, diagnostics: [] });
  });

  test.each([
    ["name", "", "name"],
    ["name", "x".repeat(257), "name"],
    ["exitCode", 1.5, "exitCode"],
    ["inferred", false, "inferred"],
    ["pid", 0, "pid"],
    ["waitingOn", { text: "no kind" }, "waitingOn.kind"],
    ["waitingOn", { kind: "lunch" }, "waitingOn.kind"],
    ["usage", { inputTokens: -1 }, "usage.inputTokens"],
    ["usage", { costUsd: "1" }, "usage.costUsd"],
    ["usage", [], "usage"],
    ["cancelRequestedAt", "soon", "cancelRequestedAt"],
  ])("%s %j is dropped with a diagnostic, the rest stands", (name, value, path) => {
    const { details, diagnostics } = sanitizeDetails({ [name]: value, note: "stays" });
    expect(details).toEqual({ note: "stays" });
    expect(diagnostics).toEqual([{ code: "reserved_member_malformed", path: `details.${path}` }]);
  });
});

describe("N5: prototypes are out of reach", () => {
  test.each(["__proto__", "constructor", "prototype"])("%s is left out, at any depth, and said so", (name) => {
    const raw = JSON.parse(
      `{"a": 1, "${name}": {"polluted": true}, "inner": [{"${name}": {"polluted": true}, "b": 2}]}`,
    );
    const { details, diagnostics } = sanitizeDetails(raw);
    expect(JSON.stringify(details)).toBe('{"a":1,"inner":[{"b":2}]}');
    expect(diagnostics.map(({ code }) => code)).toEqual(["member_name_forbidden", "member_name_forbidden"]);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    expect((details as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("N3: secrets that the structure shows", () => {
  test("the piece of a command line behind a secret flag goes", () => {
    expect(
      sanitizeDetails({ args: ["run", "--api-key", "abc", "--verbose", "x", "--token", "--flag"] }).details,
    ).toEqual({
      args: ["run", "--api-key", REDACTED, "--verbose", "x", "--token", "--flag"],
    });
  });

  test("the value beside a secret name goes", () => {
    const env = [
      { name: "OPENAI_API_KEY", value: "abc" },
      { name: "LANG", value: "C" },
      { key: "Authorization", value: "Basic abc" },
    ];
    expect(sanitizeDetails({ env }).details).toEqual({
      env: [{ name: "OPENAI_API_KEY", value: REDACTED }, env[1], { key: "Authorization", value: REDACTED }],
    });
  });

  test("a name that holds a secret is redacted too", () => {
    expect(
      JSON.stringify(sanitizeDetails({ ghp_EXAMPLEEXAMPLEEXAMPLE: 1, inner: { ghp_EXAMPLEEXAMPLEEXAMPLE: 1 } })),
    ).not.toContain("EXAMPLE");
  });

  test("values that JSON cannot hold become what JSON makes of them", () => {
    const raw = { nan: Number.NaN, zero: -0, nothing: undefined, call: () => 1, list: [undefined, 1] };
    expect(sanitizeDetails(raw).details).toEqual({ nan: null, zero: 0, list: [null, 1] });
  });
});
