import { describe, expect, it, test } from "vitest";
import { load } from "./load-text.ts";

function problems(exporters: string): readonly string[] {
  return load(`exporters: ${exporters}`).problems.map(({ path, text }) => `${path.join(".")}: ${text}`);
}

describe("exporters of OTLP", () => {
  it.each([
    "{ otlp_http: { endpoint: 'http://a:1' } }",
    "{ otlp_http/b: { signals: [logs], logs_endpoint: 'https://a/x' } }",
  ])("%s can be used", (text) => expect(problems(text)).toEqual([]));

  test.each([
    ["{ otlp_http: }", "exporters.otlp_http: needs endpoint, or one for each signal: logs, traces, metrics"],
    [
      "{ otlp_http: { signals: [logs, traces], logs_endpoint: 'http://a' } }",
      "exporters.otlp_http: needs endpoint, or one for each signal: traces",
    ],
    ["{ otlp_http: { endpoint: 'a:1' } }", "exporters.otlp_http.endpoint: must begin with http:// or https://"],
    [
      "{ otlp_http: { endpoint: 'http://me:hunter2@a' } }",
      "exporters.otlp_http.endpoint: must hold no credentials: they belong into headers",
    ],
    [
      "{ otlp_grpc: { endpoint: 'http://a:4317' } }",
      "exporters.otlp_grpc.endpoint: must be a host and a port such as otlp.example:4317, without http://",
    ],
    [
      "{ otlp_http: { endpoint: 'http://a', tls: { cert_file: c } } }",
      "exporters.otlp_http.tls: cert_file and key_file belong together",
    ],
    [
      "{ otlp_http: { endpoint: 'http://a', initial_backoff: 2m } }",
      "exporters.otlp_http.initial_backoff: must not be longer than max_backoff",
    ],
    [
      "{ otlp_http: { endpoint: 'http://a', headers: { 'a b': c } } }",
      "exporters.otlp_http.headers.a b: is no name of a header",
    ],
    ["{ otlphttp: }", "exporters.otlphttp: there is no exporter of the type otlphttp; did you mean otlp_http?"],
  ])("%s: %s", (text, problem) => expect(problems(text)).toEqual([problem]));
});

test("two exporters do not write one file", () => {
  expect(problems("{ jsonl/a: { path: x.jsonl }, jsonl/b: { path: x.jsonl } }")).toEqual([
    "exporters.jsonl/b.path: jsonl/a writes this file",
  ]);
});

test("a webhook needs a secret that cannot be guessed, and does not show it", () => {
  const [problem] = problems("{ webhook: { url: 'https://a', secret: hunter2 } }");
  expect(problem).toBe("exporters.webhook.secret: must have at least 24 characters");
});
