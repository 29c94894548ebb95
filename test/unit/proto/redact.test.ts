import { isSecretMember, MAX_IDENTIFIER_LENGTH, REDACTED, redactIdentifier, redactText } from "@agent-lifecycle/proto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

describe("secret member names", () => {
  test.each([
    "apiKey",
    "api_key",
    "x-api-key",
    "API.KEY",
    "APIKey",
    "OPENAI_API_KEY",
    "userPasswordHash",
    "x-auth-token",
    "secret_key_base",
  ])("%s announces a secret", (name) => expect(isSecretMember(name, "value")).toBe(true));

  test.each([
    "secretary",
    "tokenizer",
    "cookieless",
    "passwordless",
    "authority",
    "keyboard",
    "compassword",
    "",
    "__proto__",
    "constructor",
  ])("%j announces none", (name) => expect(isSecretMember(name, "value")).toBe(false));

  test.each([
    ["input_tokens", 812, false],
    ["maxTokens", "4096", false],
    ["tokens", 812, false],
    ["tokens", "812", false],
    ["tokens", "abc", true],
    ["tokens", { input: 5 }, false],
    ["tokens", { refresh: "abc" }, true],
    ["token", 123456, true],
    ["password", true, false],
    ["password", null, false],
    ["password", "", false],
    ["credentials", {}, false],
    ["credentials", { user: "u" }, true],
    ["pwd", "/home/dev", false],
    ["pwd", "abc", true],
  ])("%s holding %j: %s", (name, value, secret) => {
    expect(isSecretMember(name, value)).toBe(secret);
  });
});

/** Text in which names, separators, quotes, schemes, keys and marks meet in every order. */
const arbitraryDangerousText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "password",
        "api_key",
        "tokens",
        "Authorization",
        "Cookie",
        "Bearer ",
        "Basic ",
        "curl -u ",
        "--token ",
        "[redacted]",
        "[red",
      ),
      fc.constantFrom(
        "=",
        ":",
        ": ",
        '"',
        "'",
        "\\",
        '\\"',
        '\\\\\\"',
        "\\n",
        "\\t",
        "\\u000a",
        "\\\\n",
        "\u001b[31m",
        "\u001b[0m",
        "\u001b[2K",
        "\\u001b[1;31m",
        "\u001b[",
        "\uf874",
        "{",
        "}",
        "[",
        "]",
        "&",
        "?sig",
        ";",
        ",",
        ".",
        " ",
        "\n",
        "://",
        "@",
        "-",
        "$",
        "${",
        "<",
      ),
      fc.constantFrom(
        "sk-ant-",
        "ghp_",
        "eyJ",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "SG.",
        "xoxb-",
        "npm_",
      ),
      fc.stringMatching(/^[A-Za-z0-9_-]{1,24}$/),
      fc.string({ unit: "binary", maxLength: 5 }),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));

describe("redactText", () => {
  test("applied to its own result changes nothing", () => {
    fc.assert(
      fc.property(arbitraryDangerousText, (text) => {
        const once = redactText(text);
        expect(redactText(once)).toBe(once);
      }),
      { numRuns: 20_000 },
    );
  });

  test.each([
    ["a colour around half a colour", "Bearer \u001b[\u001b[0mb1EXAMPLE0EXAMPLE0a", "b1EXAMPLE0"],
    ["an erased line before an option", "\u001b[2K--token :\\u001b[1;31mEXAMPLE1", "EXAMPLE1"],
    ["an escaped quote behind a value", 'Authorization: Token\\u001b[1;31mSG.EXAMPLE1}\\\\\\"1', "EXAMPLE1"],
  ])("what was taken out uncovers nothing: %s", (_what, text, secret) => {
    const once = redactText(text);
    expect(once).not.toContain(secret);
    expect(redactText(once)).toBe(once);
  });

  test("a key is found whatever stands around it", () => {
    const key = `ghp_${"EXAMPLE0".repeat(4)}`;
    const edge = fc.string({ unit: "binary" }).map((text) => text.replace(/[A-Za-z0-9_]/g, ""));
    fc.assert(
      fc.property(edge, edge, (before, after) => {
        expect(redactText(`${before}${key}${after}`)).not.toContain("EXAMPLE0EXAMPLE0");
      }),
    );
  });

  test("the value of a secret assignment is gone, in every notation", () => {
    const name = fc.constantFrom("password", "API_TOKEN", "client-secret", "apiKey");
    const value = fc.stringMatching(/^[a-z]{3}[0-9][A-Za-z0-9!#%+/~^]{4,20}$/);
    const notation = fc.constantFrom<(name: string, value: string) => string>(
      (n, v) => `${n}=${v}`,
      (n, v) => `${n}: ${v}`,
      (n, v) => `{"${n}": "${v}"}`,
      (n, v) => `'${n}' : '${v}'`,
      (n, v) => `--${n} ${v}`,
      (n, v) => `--${n}=${v}`,
      (n, v) => JSON.stringify(JSON.stringify({ [n]: v })),
      (n, v) => `?${n}=${v}&page=2`,
    );
    fc.assert(
      fc.property(name, value, notation, (n, v, write) => {
        const text = `run ${write(n, v)} now`;
        expect(redactText(text)).not.toContain(v);
        expect(redactText(text).startsWith("run ") && redactText(text).endsWith(" now")).toBe(true);
      }),
    );
  });

  test("a megabyte of anything is done in linear time", () => {
    const hostile = [
      "a",
      " ",
      "=",
      ":",
      "-",
      "--",
      "_",
      "[",
      "{",
      '"',
      "\\",
      "eyJ",
      "eyJ.",
      "eyJa.a",
      "sk-",
      "ghp_",
      "ghp_a",
      "://",
      "://a:",
      "://a@",
      "a://b:c",
      "@",
      "password=",
      'password="',
      "password={",
      "password=[",
      "password: ",
      "token=\\",
      "\\n",
      "\\\\",
      "\\u001b[",
      "\u001b[",
      "\u001b[31m",
      "\u001b[31mpassword=\u001b[0m",
      "\\npassword=",
      'password=\\\\\\"',
      'password=\\\\"a',
      "--token ",
      "--token",
      "bearer ",
      "Bearer a",
      "basic ",
      "Basic aA",
      "Basic aaaA",
      "-----BEGIN PRIVATE KEY-----",
      "-----BEGIN ",
      "-----END ",
      "curl -u ",
      "curl -u a:",
      "-u a:",
      "AKIA",
      "SG.",
      "SG.aaaaaaaaaaaaaaaa.",
      "xoxb-",
      "1234567890:",
      "0",
      "abcdef0123456789",
      "Authorization: ",
      "Cookie: a",
      "tokens=5 ",
      "hooks.slack.com/services/",
      "x-amz-signature=",
      "?sig=",
      "key-",
      "us1-",
      "github_pat_",
      "A_",
      "aA",
      "a-b_c.d:",
      "auth ",
      "be r ba c ic ",
    ];
    const time = (text: string) => {
      const start = performance.now();
      redactText(text);
      return performance.now() - start;
    };
    for (const part of hostile) {
      const megabyte = part.repeat(Math.ceil(1_000_000 / part.length));
      // Quadratic work on a megabyte takes minutes; linear work takes a fraction of this even on a busy machine.
      expect(time(megabyte), part).toBeLessThan(4000);
      expect(time(`${"x".repeat(500)} ${megabyte} x`), part).toBeLessThan(4000);
    }
  });
});

describe("redactIdentifier", () => {
  test("a harmless identifier is the same string", () => {
    for (const id of ["child-1", "agent:main:subagent:7", "0190a6f2-7c1e-7b34-9d55-3f2b1c4d5e6f", "a b"])
      expect(redactIdentifier(id)).toBe(id);
  });

  test("identifiers with different secrets stay different, without their secrets", () => {
    const ids = Array.from({ length: 500 }, (_, index) => `run-sk-ant-EXAMPLEEXAMPLE${index}`);
    const redacted = new Set(ids.map(redactIdentifier));
    expect(redacted.size).toBe(ids.length);
    for (const id of redacted) expect(id).toMatch(/^run-\[redacted\]-[0-9a-f]{8}$/);
  });

  test("keeps within the limit, and applied to its own result changes nothing", () => {
    const long = fc
      .tuple(fc.string({ maxLength: 256 }), arbitraryDangerousText)
      .map(([start, text]) => (start + text).slice(0, 256));
    fc.assert(
      fc.property(fc.oneof(arbitraryDangerousText, long), (id) => {
        const once = redactIdentifier(id);
        expect(redactIdentifier(once)).toBe(once);
        if (once !== id) expect(once.length).toBeLessThanOrEqual(MAX_IDENTIFIER_LENGTH);
      }),
      { numRuns: 10_000 },
    );
    const long256 = `password=hunter2 ${"x ".repeat(200)}`.slice(0, 256);
    expect(redactIdentifier(long256)).toHaveLength(MAX_IDENTIFIER_LENGTH);
    expect(redactIdentifier(long256).startsWith(`password=${REDACTED} x`)).toBe(true);
  });
});
