import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccessControl, loadTokens, readTokenFile, SecretFileError } from "@agent-lifecycle/collector/parts";
import { describe, expect, it, test } from "vitest";
import { temporaryDirectory } from "../../../kit/event-file.ts";

function tokenFile(content: string, mode = 0o600): string {
  const path = join(temporaryDirectory(), "token");
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

function failureOf(path: string): string {
  try {
    readTokenFile(path);
  } catch (error) {
    if (error instanceof SecretFileError) return error.message;
    throw error;
  }
  throw new Error("it was read");
}

test.each(["abc", "abc\n", "abc\r\n", "  abc  \n\n"])("the token of %j is abc", (content) => {
  expect(readTokenFile(tokenFile(content))).toEqual({ token: "abc", warnings: [] });
});

it("follows a link, as orchestrators mount secrets", () => {
  const link = join(temporaryDirectory(), "link");
  symlinkSync(tokenFile("abc"), link);
  expect(readTokenFile(link).token).toBe("abc");
});

test.each([0o640, 0o604, 0o644])("warns of a file that others can read (%o)", (mode) => {
  const path = tokenFile("abc", mode);
  expect(readTokenFile(path)).toEqual({
    token: "abc",
    warnings: [`${path} can be read by others than its owner: chmod 600 it`],
  });
});

describe("says what is wrong with a file, and nothing of what is in it", () => {
  test.each([
    ["an empty one", "", /holds no token/],
    ["white space alone", " \n\t\n", /holds no token/],
    ["two lines", "secret-one\nsecret-two\n", /more than one token/],
    ["two words", "secret-one secret-two", /more than one token/],
    ["a large one", "secret-".repeat(1_000), /larger than 4096 bytes/],
  ])("%s", (_name, content, expected) => {
    const failure = failureOf(tokenFile(content));
    expect(failure).toMatch(expected);
    expect(failure).not.toContain("secret-");
  });

  it("a folder", () => {
    const folder = join(temporaryDirectory(), "folder");
    mkdirSync(folder);
    expect(failureOf(folder)).toMatch(/no regular file|EISDIR/);
  });

  it("a device that never ends", () => {
    expect(failureOf("/dev/zero")).toBe("/dev/zero is no regular file");
  });

  it("one that is not there", () => {
    expect(failureOf("/nowhere/token")).toBe("cannot read /nowhere/token (ENOENT)");
  });
});

describe("grants whose tokens lie in files", () => {
  it("are loaded together with those that are stated", () => {
    const path = tokenFile("from-the-file", 0o644);
    const { tokens, warnings } = loadTokens([
      { name: "a", token: "stated", scopes: ["read"] },
      { name: "b", tokenFile: path, scopes: ["ingest"], sources: ["runner"] },
    ]);
    expect(tokens).toEqual([
      { name: "a", token: "stated", scopes: ["read"] },
      { name: "b", token: "from-the-file", scopes: ["ingest"], sources: ["runner"] },
    ]);
    expect(warnings).toEqual([
      `${path} can be read by others than its owner: chmod 600 it`,
      "tokens.a: is easy to guess: make one with `openssl rand -hex 32`",
      "tokens.b: is easy to guess: make one with `openssl rand -hex 32`",
    ]);
  });

  it("are all told when they cannot be", () => {
    const load = () =>
      loadTokens([
        { name: "a", tokenFile: "/nowhere/a", scopes: ["read"] },
        { name: "b", tokenFile: "/nowhere/b", scopes: ["read"] },
        { name: "c", scopes: ["read"] },
        { name: "d", token: "x", tokenFile: "/nowhere/d", scopes: ["read"] },
      ]);
    expect(load).toThrow(SecretFileError);
    expect(load).toThrow(/nowhere\/a.*nowhere\/b.*token c .*token d /);
  });

  it("are not told apart when two files hold the same", () => {
    const files = [tokenFile("one-for-both"), tokenFile("one-for-both")];
    const load = () =>
      loadTokens(files.map((tokenFile, index) => ({ name: `n${index}`, tokenFile, scopes: ["read"] })));
    expect(load).toThrow("tokens.n1: has the same token as another one");
    expect(load).not.toThrow(/one-for-both/);
  });

  it("change with the files, and stay as they are while a file is broken", () => {
    const path = tokenFile("first-token");
    const stated = [{ name: "a", tokenFile: path, scopes: ["read"] as const }];
    const access = createAccessControl({ tokens: loadTokens(stated).tokens });
    const lets = (token: string) => access.authorize("read", { authorization: `Bearer ${token}` }).allowed;
    const reload = () => access.replace({ tokens: loadTokens(stated).tokens });

    writeFileSync(path, "");
    expect(reload).toThrow(SecretFileError);
    expect(lets("first-token")).toBe(true);

    renameSync(tokenFile("second-token"), path);
    reload();
    expect([lets("first-token"), lets("second-token")]).toEqual([false, true]);
  });
});
