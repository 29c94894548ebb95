import { type ConfigurationProblem, describeProblem } from "@agent-lifecycle/collector";
import { printableConfiguration, readConfigurationSchema } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { load } from "./load-text.ts";

function problemsOf(text: string): readonly string[] {
  return load(text).problems.map((problem: ConfigurationProblem) => describeProblem(problem));
}

const ONE = "snapshot_sources:\n  http/one:\n    source: runner\n    url: https://one.example/children\n";

describe("snapshot sources", () => {
  test("need little: a source, and where its authority is", () => {
    const { configuration, problems } = load(ONE);
    expect(problems).toEqual([]);
    expect(configuration.snapshotSources).toEqual({
      "http/one": {
        source: "runner",
        url: "https://one.example/children",
        intervalMs: 30_000,
        timeoutMs: 5_000,
        retry: { initialIntervalMs: 1_000, maxIntervalMs: 10_000 },
        maxAnswerBytes: 16_777_216,
      },
    });
    expect(configuration.service.snapshotSources).toEqual(["http/one"]);
  });

  test("are one at most for each source that run", () => {
    const two = `${ONE}  push/two: { source: runner }\n`;
    expect(problemsOf(two)).toEqual([
      "5:15 snapshot_sources.push/two.source: http/one is the authority of this source already: a source has one at most",
    ]);
    expect(problemsOf(`${two}service: { snapshot_sources: [push/two] }\n`)).toEqual([]);
    expect(problemsOf(`${ONE}receivers: { hermes/main: { source: runner, url: "ws://127.0.0.1:1" } }\n`)).toEqual([
      "3:5 snapshot_sources.http/one.source: hermes/main is the authority of this source already: a source has one at most",
    ]);
  });

  test.each([
    ["url: ftp://one.example", "must be a URL that begins with http:// or https://"],
    ["url: children", "must be a URL that begins with http:// or https://"],
    ["url: https://me:secret-secret@one.example", "must hold no credentials: they belong into token or token_file"],
    ["url: https://one.example?access_token=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "must hold no credentials"],
    ["url: 'https://one.example#part'", "must have no fragment: it would not be sent"],
  ])("refuse %s", (member, text) => {
    const [problem, ...others] = problemsOf(`snapshot_sources: \n  http/one:\n    source: runner\n    ${member}\n`);
    expect(others).toEqual([]);
    expect(problem).toContain(`snapshot_sources.http/one.url: ${text}`);
    expect(problem).not.toContain("secret");
  });

  test("send no token in plain text beyond this machine", () => {
    const plain = (url: string): readonly string[] =>
      problemsOf(`snapshot_sources: { http/one: { source: runner, url: "${url}", token: some-token } }`);
    expect(plain("http://one.example")).toEqual([
      "1:49 snapshot_sources.http/one.url: would send a token to one.example in plain text: use https",
    ]);
    expect(plain("http://127.0.0.1:8080")).toEqual([]);
    expect(plain("http://[::1]:8080")).toEqual([]);
    expect(plain("https://one.example")).toEqual([]);
  });

  test("have one token, and certificates as pairs", () => {
    const text = `${ONE}    token: some token\n    token_file: /token\n    tls: { cert_file: /cert }\n`;
    expect(problemsOf(text)).toEqual([
      "2:3 snapshot_sources.http/one: has both token and token_file",
      "5:5 snapshot_sources.http/one.token: must be printable ASCII without spaces, as it travels in a header",
      "7:5 snapshot_sources.http/one.tls: needs both cert_file and key_file, or neither",
    ]);
  });

  test("are heard before their children are judged", () => {
    expect(problemsOf(`${ONE}    timeout: 10s\n`)).toEqual([
      "2:3 snapshot_sources.http/one: a question could come to its answer only after 32000 ms (timeout 10000 ms twice, and " +
        "retry.max_interval 10000 ms with its spread); reconcile_deadline of runner is 30000 ms: a child could be lost " +
        "without its authority having been heard",
    ]);
    expect(
      problemsOf(`${ONE}    timeout: 10s\nlifecycle: { sources: { runner: { reconcile_deadline: 1m } } }\n`),
    ).toEqual([]);
    expect(problemsOf(`${ONE}    retry: { initial_interval: 2s, max_interval: 1s }\n`)).toEqual([
      "5:36 snapshot_sources.http/one.retry.max_interval: 1000 ms is below initial_interval, 2000 ms",
    ]);
  });

  test("are told by type, name and number as all components are", () => {
    const text = "snapshot_sources: { htp/one: { source: a }, http/: { source: b, url: 'https://b' } }";
    expect(problemsOf(text)).toHaveLength(2);
    expect(problemsOf(text)[0]).toContain("there is no snapshot source of the type htp; did you mean http?");
    expect(problemsOf(`${ONE}service: { snapshot_sources: [http/on] }`)).toEqual([
      "5:31 service.snapshot_sources[0]: snapshot_sources has no http/on; did you mean http/one?",
    ]);
    expect(problemsOf("snapshot_sources: { http/one: { url: 'https://b' } }")).toEqual([
      "1:21 snapshot_sources.http/one: needs source",
    ]);
    expect(problemsOf("snapshot_sources: { http/one: { source: ' a', url: 'https://b' } }")).toEqual([
      "1:33 snapshot_sources.http/one.source: must be a name without spaces around it",
    ]);
  });

  test("show no token when printed", () => {
    const { configuration } = load(`${ONE}    token: some-token\n`);
    expect(JSON.stringify(printableConfiguration(configuration, readConfigurationSchema()))).not.toContain(
      "some-token",
    );
  });
});

describe("a source whose authority pushes", () => {
  const push = (members: string, tokens = ""): readonly string[] =>
    problemsOf(`snapshot_sources: { push/one: { source: runner${members} } }\naccess: { tokens: [${tokens}] }`);
  const token = (name: string, members: string): string => `{ name: ${name}, token: ${name}-0123456789, ${members} }`;

  test("promises to do so more often than its children are judged", () => {
    expect(push(", interval: 15s")).toEqual([]);
    expect(push(", interval: 16s")[0]).toContain(
      "16000 ms fits less than twice into reconcile_deadline of runner, 30000 ms",
    );
  });

  test("needs a token that may speak for it, where tokens are asked for", () => {
    expect(push("")).toEqual([]);
    expect(push("", token("reader", "scopes: [read]"))).toEqual([]);
    expect(push("", token("any", "scopes: [ingest]"))).toEqual([]);
    expect(push("", token("other", "scopes: [ingest], sources: [another]"))[0]).toContain(
      "nobody whom access names may send for runner: nobody could push",
    );
  });

  test("names a token that may speak for it, if any", () => {
    const scheduler = token("scheduler", "scopes: [ingest], sources: [runner]");
    expect(push(", token_name: scheduler", scheduler)).toEqual([]);
    expect(push(", token_name: another", scheduler)[0]).toContain(
      "snapshot_sources.push/one.token_name: names no token or certificate of access that may send for this source",
    );
  });
});

test("the grace of a source can be its own", () => {
  const { configuration, problems } = load("lifecycle: { sources: { runner: { missing_grace: 5 } } }");
  expect(problems).toEqual([]);
  expect(configuration.lifecycle.sources.get("runner")).toEqual({ missingGrace: 5 });
});
