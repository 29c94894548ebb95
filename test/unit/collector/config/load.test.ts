// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a configuration file refers to the environment
import { DEFAULT_CONFIGURATION } from "@agent-lifecycle/collector";
import { receiversInUse } from "@agent-lifecycle/collector/parts";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { stringify } from "yaml";
import { load, problemsOf } from "./load-text.ts";

test.each(["", "\n# nothing\n", "{}", "api:\nstorage:\nreceivers:\n"])(
  "a file that says nothing has the defaults: %j",
  (text) => {
    const { configuration, problems } = load(text);
    expect(problems).toEqual([]);
    expect({ ...configuration, receivers: undefined }).toEqual({
      ...DEFAULT_CONFIGURATION,
      receivers: undefined,
      ...(text.includes("receivers") ? { service: { ...DEFAULT_CONFIGURATION.service, receivers: [] } } : undefined),
    });
  },
);

/** A first line with a listener that asks for client certificates. */
const MUTUAL = "api: { tls: { cert_file: c, key_file: k, client_ca_file: a } }\n";

describe("receivers", () => {
  it("that are stated are all there are, each with its defaults", () => {
    const { configuration, problems } = load("receivers: { jsonl_file/journal: { path: a.jsonl } }");
    expect(problems).toEqual([]);
    expect(receiversInUse(configuration)).toEqual([
      {
        type: "jsonl_file",
        id: "jsonl_file/journal",
        settings: { path: "/etc/collector/a.jsonl", maxLineBytes: 65_536 },
      },
    ]);
  });

  it("run only when the service names them, in its order", () => {
    const text = `
receivers: { otlp: , jsonl_stdin: , "jsonl_file/a": { path: /a }, "module/b": { module: ./b.mjs, options: { some_name: 1 } } }
service: { receivers: [module/b, jsonl_stdin] }`;
    const { configuration, problems } = load(text);
    expect(problems).toEqual([]);
    expect(receiversInUse(configuration)).toEqual([
      { type: "module", id: "module/b", settings: { module: "./b.mjs", options: { some_name: 1 } } },
      { type: "jsonl_stdin", id: "jsonl_stdin", settings: { maxLineBytes: 65_536 } },
    ]);
  });

  it("have the protocols that are there, also those with nothing after them", () => {
    const protocols = (text: string) => load(text).configuration.receivers.otlp?.protocols;
    const { http, grpc } = { ...DEFAULT_CONFIGURATION.receivers.otlp?.protocols };
    expect(protocols("receivers: { otlp: }")).toEqual({ http, grpc });
    expect(protocols("receivers: { otlp: { protocols: { grpc: } } }")).toEqual({ http: null, grpc });
    expect(protocols("receivers: { otlp: { protocols: { http: { endpoint: '[::1]:1' } } } }")).toMatchObject({
      http: { endpoint: { host: "::1", port: 1 }, maxRequestBodyBytes: 67_108_864 },
      grpc: null,
    });
    expect(problemsOf("receivers: { otlp: { protocols: {} } }")).toEqual([
      "1:22 receivers.otlp.protocols: one of http and grpc must be there",
    ]);
  });
});

it("keeps sources whose names could be mistaken for something else", () => {
  const { configuration, problems } = load(
    "lifecycle: { sources: { __proto__: { stale_after: 5s }, a.b: { heartbeat_interval: 1m } } }",
  );
  expect(problems).toEqual([]);
  expect([...configuration.lifecycle.sources]).toEqual([
    ["__proto__", { staleAfterMs: 5_000 }],
    ["a.b", { heartbeatIntervalMs: 60_000 }],
  ]);
  expect(Object.getPrototypeOf({})).toBe(Object.prototype);
});

it("takes paths from the file's folder", () => {
  const text = `
storage: { path: data/x.db, backup_directory: /backups }
api: { tls: { cert_file: c.pem, key_file: k.pem } }
access: { tokens: [{ name: a, token_file: t, scopes: [read] }] }`;
  const { configuration, problems } = load(text);
  expect(problems).toEqual([]);
  expect(configuration.storage).toMatchObject({ path: "/etc/collector/data/x.db", backupDirectory: "/backups" });
  expect(configuration.api.tls).toEqual({
    certFile: "/etc/collector/c.pem",
    keyFile: "/etc/collector/k.pem",
    clientCaFile: undefined,
    reloadIntervalMs: 60_000,
  });
  expect(configuration.access.tokens).toEqual([{ name: "a", tokenFile: "/etc/collector/t", scopes: ["read"] }]);
});

describe("what is wrong is told with its place and a way out", () => {
  test.each([
    ["api: { endpont: 127.0.0.1:1 }", "1:8 api.endpont: is not known here; did you mean endpoint?"],
    ["apis: {}", "1:1 apis: is not known here; did you mean api?"],
    ["receivers: { zipkin: }", "1:14 receivers.zipkin: there is no receiver of the type zipkin"],
    [
      "receivers: { jsonl_fiel/a: { path: x } }",
      "1:14 receivers.jsonl_fiel/a: there is no receiver of the type jsonl_fiel; did you mean jsonl_file?",
    ],
    ["receivers: { otlp/two: }", "1:14 receivers.otlp/two: otlp is there once and takes no name"],
    [
      "receivers: { 'jsonl_file/a b': { path: x } }",
      '1:14 receivers.jsonl_file/a b: must be a type, or a type/name of letters, digits, "_", "." and "-", with at most 64 characters',
    ],
    ["exporters: { otlp: }", "1:14 exporters.otlp: there is no exporter of the type otlp"],
    ["receivers: { jsonl_file: {} }", "1:14 receivers.jsonl_file: needs path"],
    ["storage: { synchronous: fast }", "1:12 storage.synchronous: must be one of full, normal"],
    [
      "limits: { queue: 64MB }",
      "1:11 limits.queue: must be a size such as 64KiB, 64MiB or 10GiB, or a whole number of bytes",
    ],
    [
      "limits: { queue: 0 }",
      "1:11 limits.queue: must be a size such as 64KiB, 64MiB or 10GiB, or a whole number of bytes",
    ],
    ["limits: { queue: 0B }", "1:11 limits.queue: must be a whole number of bytes above 0"],
    ["limits: { memory: 101% }", "1:11 limits.memory: must be a size, or a share above 0% and up to 100%, not 101%"],
    ["lifecycle: { stale_after: 30 }", "1:14 lifecycle.stale_after: must be a duration such as 500ms, 30s, 1h or 7d"],
    ["lifecycle: { stale_after: 0s }", "1:14 lifecycle.stale_after: must be a whole number of milliseconds above 0"],
    ["lifecycle: { missing_grace: 1.5 }", "1:14 lifecycle.missing_grace: must be a whole number above 0"],
    ["api: { endpoint: 8787 }", "1:8 api.endpoint: must be an address and a port such as 127.0.0.1:4318 or [::1]:4318"],
    ["api: { endpoint: '127.0.0.1:70000' }", "1:8 api.endpoint: is no port: 70000"],
    ["api: { endpoint: 127.0.0.1:4318 }", "1:8 api.endpoint: 127.0.0.1:4318 is taken by receivers.otlp.protocols.http"],
    [
      "api: { endpoint: '0.0.0.0:4317' }\naccess: { insecure_public_bind: true }",
      "1:8 api.endpoint: 0.0.0.0:4317 is taken by receivers.otlp.protocols.grpc",
    ],
    ["api: { tls: { cert_file: a } }", "1:8 api.tls: needs key_file"],
    ["service: { receivers: [otpl] }", "1:24 service.receivers[0]: receivers has no otpl; did you mean otlp?"],
    ["service: { receivers: [otlp, otlp] }", "1:30 service.receivers[1]: otlp is named twice"],
    ["access: { tokens: [{ name: a, scopes: [read] }] }", "1:20 access.tokens[0]: needs either token or token_file"],
    ["access: { tokens: [{ token: abc, scopes: [read] }] }", "1:20 access.tokens[0]: needs name"],
    ["access: { tokens: [{ name: a, token: abc, scopes: [] }] }", "1:43 access.tokens[0].scopes: must not be empty"],
    [
      "access: { tokens: [{ name: a, token: abc, scopes: [write] }] }",
      "1:52 access.tokens[0].scopes[0]: must be one of ingest, read, admin",
    ],
    [
      "access: { tokens: [{ name: a, token: 123, scopes: [read] }] }",
      "1:31 access.tokens[0].token: must be a text, in quotes if it reads as something else",
    ],
    [
      "access: { tokens: [{ name: a, token: 'a b', scopes: [read] }] }",
      "1:31 access.tokens[0].token: must be printable ASCII without spaces, as it travels in a header",
    ],
    [
      `${MUTUAL}access: { certificates: [{ name: a, scopes: [read] }] }`,
      "2:26 access.certificates[0]: needs exactly one of subject, common_name and alternative_name",
    ],
    [
      `${MUTUAL}access: { certificates: [{ name: a, common_name: a, subject: CN=a, scopes: [read] }] }`,
      "2:26 access.certificates[0]: needs exactly one of subject, common_name and alternative_name",
    ],
    [
      `${MUTUAL}access: { certificates: [{ name: a, alternative_name: a.example, scopes: [read] }] }`,
      "2:37 access.certificates[0].alternative_name: must be one name with its kind: DNS:…, URI:… or email:…",
    ],
    [
      `${MUTUAL}access: { certificates: [{ name: a, common_name: x, scopes: [read] }, { name: b, common_name: x, scopes: [read] }] }`,
      "2:82 access.certificates[1].common_name: another entry names the same certificates: this one would never count",
    ],
    [
      `${MUTUAL}access: { tokens: [{ name: a, token: abc, scopes: [read] }], certificates: [{ name: a, common_name: x, scopes: [read] }] }`,
      "2:79 access.certificates[0].name: another token or certificate has this name: the audit could not tell them apart",
    ],
    [
      "access: { certificates: [{ name: a, common_name: x, scopes: [read] }] }",
      "1:11 access.certificates: no listener that runs asks for client certificates: set `tls.client_ca_file` of one",
    ],
    [
      "access: { tokens: [{ name: a, token: x, scopes: [read], sources: [] }] }",
      "1:57 access.tokens[0].sources: must not be empty",
    ],
    [
      "storage: { retention: { max_size: 1MiB } }",
      "1:25 storage.retention.max_size: must be at least 8388608 bytes, not 1048576: a database without children takes some",
    ],
    [
      "storage: { retention: { max_age: 1m } }",
      "1:25 storage.retention.max_age: 60000 ms is below stale_after and reconcile_deadline together, 150000 ms: evidence would go before it is judged",
    ],
  ])("%s", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it("S8: a threshold below twice the heartbeat interval, with the numbers", () => {
    const text = "lifecycle:\n  sources:\n    runner: { stale_after: 10s, heartbeat_interval: 8s }";
    expect(problemsOf(text)).toEqual([
      "3:5 lifecycle.sources.runner: staleAfter 10000 ms is below twice the declared heartbeat interval of 8000 ms: one late heartbeat would mark a healthy child stale",
    ]);
  });

  it("all at once, in the order of the file", () => {
    const text = `api:
  endpoint: 0.0.0.0:9000
storage:
  path: \${env:MISSING}
  synchronous: fast
lifecycle:
  missing_grace: 0
receivers:
  jsonl_file/a: {}
service:
  receivers: [otlp]
  unknown: 1
`;
    expect(problemsOf(text).map((problem) => problem.split(": ")[0])).toEqual([
      "2:3 api.endpoint",
      "4:9 storage.path",
      "5:3 storage.synchronous",
      "7:3 lifecycle.missing_grace",
      "9:3 receivers.jsonl_file/a",
      "11:15 service.receivers[0]",
      "12:3 service.unknown",
    ]);
  });
});

describe("a listener that others reach", () => {
  const listener = "receivers: { otlp: { protocols: { http: { endpoint: 0.0.0.0:4318 } } } }\n";
  const token = (scopes: string): string => `access: { tokens: [{ name: a, token: abc, scopes: ${scopes} }] }`;

  it("needs a token, client certificates, or a word that it is meant", () => {
    expect(problemsOf(listener)).toEqual([
      expect.stringContaining("receivers.otlp.protocols.http.endpoint: 0.0.0.0 is reachable by others without a token"),
    ]);
    expect(problemsOf(listener + token("[ingest]"))).toEqual([]);
    expect(problemsOf(listener + token("[read, admin]"))).toHaveLength(1);
    expect(problemsOf(`${listener}access: { insecure_public_bind: true }`)).toEqual([]);
    const tls = (authority: string): string =>
      `receivers: { otlp: { protocols: { grpc: { endpoint: "[::]:1", tls: { cert_file: c, key_file: k ${authority} } } } } }`;
    expect(problemsOf(tls(""))).toHaveLength(1);
    expect(problemsOf(tls(", client_ca_file: a"))).toEqual([]);
  });

  it("of the API needs both, as it takes evidence too", () => {
    const api = "api: { endpoint: 0.0.0.0:8787 }\n";
    expect(problemsOf(api + token("[read]"))).toHaveLength(1);
    expect(problemsOf(api + token("[read, ingest]"))).toEqual([]);
  });

  it("is none when its receiver does not run", () => {
    const text = "jsonl_stdin: } \nservice: { receivers: [jsonl_stdin] }";
    expect(problemsOf(listener.replace(" }\n", `, ${text}`))).toEqual([]);
  });
});

describe("a file that is none", () => {
  test.each([
    ["a: [1", /^1:\d+ /],
    ["a: 1\na: 2", /^2:1 this member is there twice$/],
    ["api: 1\n---\napi: 2", /^\d:\d+ the file must hold one document$/],
    ["a:\n\t- 1", /^2:\d+ indentation must be by spaces$/],
    ["storage: *missing", /^1:10 storage: the alias names no anchor before it$/],
    ["storage: { path: !!js/function 'x' }", /^1:18 tags are not known here$/],
    ["- 1", /^must be a mapping$/],
    ["api: []", /^1:1 api: must be a mapping$/],
    ["{ ? [a] : 1 }", /^1:5 a member's name must be a text$/],
  ])("is told so: %j", (text, words) => {
    expect(problemsOf(text)[0]).toMatch(words);
  });

  it.each([
    [
      "aliases that multiply",
      `a: &a [1,1,1,1,1,1,1,1,1]\n${"bcdefgh".replaceAll(/./g, (name, at: number) => `${name}: &${name} [${"*abcdefgh"[0]}${"abcdefgh"[at]}${`,*${"abcdefgh"[at]}`.repeat(9)}]\n`)}`,
    ],
    ["depth", `${"[".repeat(200_000)}`],
    ["depth that ends", `a: ${"[".repeat(100)}${"]".repeat(100)}`],
    ["flow that is deep", `${"{a: ".repeat(50_000)}`],
    ["size", `# ${"x".repeat(300_000)}`],
    ["an alias of itself", "a: &a [*a]"],
  ])("costs little and crashes nothing: %s", (_, text) => {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThan(1_000);
  });
});

describe("whatever a file holds", () => {
  const WORDS = [
    "receivers",
    "otlp",
    "protocols",
    "http",
    "api",
    "endpoint",
    "access",
    "tokens",
    "name",
    "token",
    "scopes",
  ];
  const word = fc.constantFrom(
    ...WORDS,
    "service",
    "lifecycle",
    "sources",
    "read",
    "30s",
    "64MiB",
    "127.0.0.1:0",
    "__proto__",
  );
  const mark = fc.constantFrom(
    ": ",
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    "&a ",
    "*a",
    "!!x ",
    "$",
    "${env:A}",
    "#",
    "|",
  );
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      word,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("mapping"),
    ),
    list: fc.array(tie("node"), { maxLength: 3 }),
    mapping: fc.dictionary(word, tie("node"), { maxKeys: 4 }),
  })).mapping;

  it("is told in problems, or can be used: nothing is thrown", () => {
    const texts = fc.oneof(
      fc.array(fc.oneof(word, mark), { maxLength: 40 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 60 }),
      value.map((tree) => stringify(tree)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const { path, text: words } of load(text, { A: "x: [" }).problems) {
          expect(words).not.toBe("");
          expect(Array.isArray(path)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

it("takes a member with nothing after it for its defaults", () => {
  const text = "lifecycle:\n  sources:\naccess:\nstorage:\n  retention:\nlimits:\nservice:\nexporters:\n";
  const { configuration, problems } = load(text);
  expect(problems).toEqual([]);
  expect(configuration.lifecycle.sources.size).toBe(0);
  expect(configuration.access.tokens).toEqual([]);
});

it("repeats by anchors what is meant to be the same", () => {
  const { configuration, problems } = load("limits: { queue: &size 1MiB, bodies: *size }");
  expect(problems).toEqual([]);
  expect(configuration.limits).toMatchObject({ queueBytes: 1_048_576, bodiesBytes: 1_048_576 });
});

test("no problem shows a value: it may be a secret that stands in the wrong place", () => {
  const secret = "hunter2-and-more";
  const texts = [
    `api: { endpoint: ${secret} }`,
    `storage: { synchronous: ${secret} }`,
    `lifecycle: { stale_after: ${secret} }`,
    `limits: { queue: ${secret}, connections: ${secret}, memory: ${secret} }`,
    `access: { insecure_public_bind: ${secret}, tokens: ${secret} }`,
    `access: { tokens: [{ name: a, token: '${secret} x', scopes: [${secret}] }] }`,
    `access: { tokens: [{ name: a, token: ${secret}, scopes: [read] }, { name: b, token: ${secret}, scopes: [read] }] }`,
    `access: { tokens: [ ${secret} ] }`,
    `receivers: ${secret}`,
    `access: { tokens: [{ token: !${secret} x }] }`,
    `api: "${secret}`,
    `access: { token: "\\${secret}" }`,
    `api: \${${secret}}`,
  ];
  for (const text of texts) {
    const problems = problemsOf(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.join("\n")).not.toContain(secret);
  }
});
