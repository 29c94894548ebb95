import {
  type AccessGrants,
  clientCertificateOf,
  createAccessControl,
  OPEN_ACCESS,
  type Scope,
} from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { fixture, startNode } from "../../../kit/program.ts";

const GRANTS: AccessGrants = {
  tokens: [
    { name: "runner", token: "token-of-the-runner", scopes: ["ingest"], sources: ["runner", "runner-2"] },
    { name: "wall", token: "token-of-the-wall", scopes: ["read"] },
    { name: "operator", token: "token-of-the-operator", scopes: ["ingest", "read", "admin"] },
  ],
  certificates: [{ name: "gateway", subject: "O=Example, CN=gateway", scopes: ["ingest"], sources: ["gateway"] }],
};

const SCOPES: readonly Scope[] = ["ingest", "read", "admin"];
const access = createAccessControl(GRANTS);

function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

describe("what a token may do is what it was granted", () => {
  test.each([
    ["token-of-the-runner", ["ingest"]],
    ["token-of-the-wall", ["read"]],
    ["token-of-the-operator", ["ingest", "read", "admin"]],
  ])("%s: %j", (token, granted) => {
    const allowed = SCOPES.filter((scope) => access.authorize(scope, bearer(token)).allowed);
    expect(allowed).toEqual(granted);
  });

  it("and its name and sources go with the request", () => {
    const decision = access.authorize("ingest", bearer("token-of-the-runner"));
    expect(decision).toEqual({
      allowed: true,
      principal: { name: "runner", scopes: new Set(["ingest"]), sources: new Set(["runner", "runner-2"]) },
    });
  });

  it("a known token that is not for this is forbidden, and named", () => {
    expect(access.authorize("admin", bearer("token-of-the-wall"))).toMatchObject({
      allowed: false,
      reason: "forbidden",
      principal: { name: "wall" },
    });
  });
});

describe("what is no token of ours lets nobody in", () => {
  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Bearer token-of-the-runne",
    "Bearer token-of-the-runner2",
    "Bearer TOKEN-OF-THE-RUNNER",
    "Bearer token-of-the-runner token-of-the-wall",
    "Basic token-of-the-runner",
    "token-of-the-runner",
    `Bearer ${"a".repeat(100_000)}`,
  ])("%.40s", (authorization) => {
    for (const scope of SCOPES) {
      const decision = access.authorize(scope, { authorization });
      expect(decision).toMatchObject({ allowed: false, reason: "unauthenticated" });
      expect(JSON.stringify(decision)).not.toContain("token-of");
    }
  });
});

describe("a scope that nobody was granted", () => {
  const readersOnly = createAccessControl({ tokens: [{ name: "wall", token: "token-of-the-wall", scopes: ["read"] }] });

  it("is open, also to those who show what somebody else asked for", () => {
    for (const authorization of [undefined, "Bearer meant-for-a-proxy", "Basic bmFtZTpwYXNz"]) {
      expect(readersOnly.authorize("ingest", { authorization })).toMatchObject({
        allowed: true,
        principal: { name: "anonymous", sources: undefined },
      });
    }
  });

  it("keeps the name of a token that is known", () => {
    expect(readersOnly.authorize("ingest", bearer("token-of-the-wall"))).toMatchObject({
      allowed: true,
      principal: { name: "wall" },
    });
  });

  it("is never open where it is admin", () => {
    for (const open of [readersOnly, OPEN_ACCESS, createAccessControl({ tokens: [] })]) {
      expect(open.authorize("admin", { authorization: undefined })).toMatchObject({ allowed: false });
    }
  });
});

describe("a client certificate that the listener has verified", () => {
  const showing = (subject: string, authorization?: string) => ({
    certificate: clientCertificateOf({ subject: subject.replaceAll(", ", "\n"), subjectAltName: undefined }),
    authorization,
  });

  it("stands for whom it was granted to", () => {
    expect(access.authorize("ingest", showing("O=Example, CN=gateway"))).toMatchObject({
      allowed: true,
      principal: { name: "gateway", sources: new Set(["gateway"]) },
    });
    expect(access.authorize("read", showing("O=Example, CN=gateway"))).toMatchObject({ reason: "forbidden" });
  });

  it("has no rights of its own without a grant", () => {
    expect(access.authorize("ingest", showing("CN=gateway"))).toMatchObject({ allowed: false, reason: "forbidden" });
  });

  it("names its owner where everybody may send", () => {
    const open = createAccessControl({ tokens: [] });
    expect(open.authorize("ingest", showing("CN=somebody"))).toMatchObject({ principal: { name: "CN=somebody" } });
  });

  it("gives way to a token, and does not make up for a wrong one", () => {
    const subject = "O=Example, CN=gateway";
    expect(access.authorize("read", showing(subject, "Bearer token-of-the-wall"))).toMatchObject({
      allowed: true,
      principal: { name: "wall" },
    });
    expect(access.authorize("ingest", showing(subject, "Bearer wrong"))).toMatchObject({ reason: "unauthenticated" });
  });
});

it("keeps digests: no token is left in memory", { timeout: 60_000 }, async () => {
  const { exitCode, stdout, stderr } = await startNode(fixture("tokens-in-memory.mjs")).end;
  expect(stderr.toString()).toBe("");
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout.toString())).toEqual({ lets: [true, true], found: { kept: true, granted: false } });
});

it("goes by other grants from the moment they are replaced", () => {
  const replaced = createAccessControl(GRANTS);
  replaced.replace({ tokens: [{ name: "runner", token: "new-token-of-the-runner", scopes: ["ingest"] }] });
  expect(replaced.authorize("ingest", bearer("token-of-the-runner")).allowed).toBe(false);
  expect(replaced.authorize("ingest", bearer("new-token-of-the-runner")).allowed).toBe(true);
  expect(replaced.authorize("admin", bearer("token-of-the-operator")).allowed).toBe(false);
});
