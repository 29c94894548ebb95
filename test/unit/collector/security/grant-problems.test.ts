import { type AccessGrants, grantProblems } from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";

const STRONG = "5f0c1e9b7a3d486285e1b09c44d7f6a1";
const grant = { name: "runner", token: STRONG, scopes: ["ingest"] } as const;

function texts(grants: AccessGrants): readonly string[] {
  return grantProblems(grants).map(({ path, text, severity }) => `${severity} ${path}: ${text}`);
}

it("finds nothing in good grants", () => {
  expect(
    grantProblems({
      tokens: [grant, { name: "wall", token: `${STRONG}2`, scopes: ["read", "admin"] }],
      certificates: [{ name: "gateway", subject: "CN=gateway", scopes: ["ingest"], sources: ["gateway"] }],
    }),
  ).toEqual([]);
});

describe("tells what cannot be used", () => {
  test.each<[string, AccessGrants, RegExp]>([
    ["an empty token", { tokens: [{ ...grant, token: "" }] }, /is empty/],
    ["a token with a space", { tokens: [{ ...grant, token: `${STRONG} a` }] }, /visible ASCII/],
    ["a token with a line end", { tokens: [{ ...grant, token: `${STRONG}\n` }] }, /visible ASCII/],
    ["an endless token", { tokens: [{ ...grant, token: STRONG.repeat(33) }] }, /longer than 1024/],
    ["no scope", { tokens: [{ ...grant, scopes: [] }] }, /has no scope/],
    ["no source", { tokens: [{ ...grant, sources: [] }] }, /no source/],
    ["one token twice", { tokens: [grant, { ...grant, name: "other" }] }, /the same token/],
    ["one name twice", { tokens: [grant, { ...grant, token: `${STRONG}2` }] }, /the same name/],
    ["no name", { tokens: [{ ...grant, name: "" }] }, /its name/],
    ["a name that could forge lines of a log", { tokens: [{ ...grant, name: "a\nb" }] }, /its name/],
    [
      "one name for a token and a certificate",
      { tokens: [grant], certificates: [{ name: "runner", subject: "CN=a", scopes: ["read"] }] },
      /the same name/,
    ],
    [
      "a certificate with an empty subject",
      { tokens: [], certificates: [{ name: "a", subject: "", scopes: ["read"] }] },
      /names nobody/,
    ],
    [
      "a certificate that is not named",
      { tokens: [], certificates: [{ name: "a", scopes: ["read"] }] },
      /exactly one of/,
    ],
    [
      "a certificate that is named twice",
      { tokens: [], certificates: [{ name: "a", subject: "CN=a", commonName: "a", scopes: ["read"] }] },
      /exactly one of/,
    ],
    [
      "an alternative name of no kind",
      { tokens: [], certificates: [{ name: "a", alternativeName: "a.example", scopes: ["read"] }] },
      /must begin with/,
    ],
    [
      "one certificate for two",
      {
        tokens: [],
        certificates: [
          { name: "a", commonName: "runner", scopes: ["read"] },
          { name: "b", commonName: "runner", scopes: ["ingest"] },
        ],
      },
      /the same certificates/,
    ],
  ])("%s", (_name, grants, expected) => {
    const errors = texts(grants).filter((text) => text.startsWith("error"));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(expected);
  });

  it("more tokens than a request can be compared with", () => {
    const tokens = Array.from({ length: 257 }, (_, index) => ({ ...grant, name: `n${index}`, token: STRONG + index }));
    expect(texts({ tokens })).toEqual(["error tokens: there are more than 256"]);
  });
});

describe("warns of a token that can be guessed", () => {
  test.each(["secret", "correct-horse", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "12345678"])("%s", (token) => {
    expect(texts({ tokens: [{ ...grant, token }] })).toEqual([
      "warning tokens.runner: is easy to guess: make one with `openssl rand -hex 32`",
    ]);
  });
});

it("never quotes a token", () => {
  const token = "with spaces and far too telling";
  const problems = grantProblems({
    tokens: [
      { ...grant, token },
      { ...grant, token },
    ],
  });
  expect(problems.length).toBeGreaterThan(2);
  expect(JSON.stringify(problems)).not.toContain(token);
});
