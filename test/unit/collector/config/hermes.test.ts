import { HERMES_DEFAULTS, receiversInUse } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";
import { load } from "./load-text.ts";

const URL = "ws://127.0.0.1:9119/api/ws";

function problemsOf(...lines: readonly string[]): readonly string[] {
  const text = ["receivers:", ...lines.map((line) => `  ${line}`)].join("\n");
  return load(text, { TOKEN: "hunter2-hunter2" }).problems.map(({ path, text: said }) => `${path.join(".")}: ${said}`);
}

describe("a gateway of Hermes", () => {
  test("needs its address and nothing else", () => {
    const { configuration, problems } = load(`receivers: { hermes: { url: "${URL}" } }`);
    expect(problems).toEqual([]);
    expect(receiversInUse(configuration)).toMatchObject([{ id: "hermes", settings: { source: "hermes", url: URL } }]);
  });

  test("has the defaults of its receiver", () => {
    const { configuration } = load("receivers: { hermes: { stdio: } }");
    const { command, readyTimeoutMs, ...defaults } = HERMES_DEFAULTS;
    expect(configuration.receivers.hermes).toMatchObject({ ...defaults, stdio: { command } });
    expect(readyTimeoutMs).toBeGreaterThan(0);
  });

  test.each([
    ["hermes/a: {}", "receivers.hermes/a: needs either url or stdio"],
    [`hermes/a: { url: "${URL}", stdio: }`, "receivers.hermes/a: needs either url or stdio"],
    ["hermes/a: { url: 127.0.0.1 }", "receivers.hermes/a.url: must be an address such as ws://127.0.0.1:9119/api/ws"],
    ["hermes/a: { url: http://127.0.0.1 }", "receivers.hermes/a.url: must begin with ws:// or wss://"],
    [`hermes/a: { url: "${URL}?token=hunter2" }`, "receivers.hermes/a.url: must hold neither credentials"],
    ["hermes/a: { url: ws://me:hunter2@127.0.0.1/api/ws }", "receivers.hermes/a.url: must hold neither credentials"],
    [`hermes/a: { url: "${URL}", token: "\${env:TOKEN}", token_file: f }`, "receivers.hermes/a: needs one credential"],
    [`hermes/a: { url: "${URL}", login_cookie: "a\\nhunter2" }`, "receivers.hermes/a.login_cookie: must be one line"],
    [`hermes/a: { url: "${URL}", source: " " }`, "receivers.hermes/a.source: must be a name"],
    ["hermes/a: { stdio: , token: hunter2 }", "receivers.hermes/a.token: is for a url"],
    ["hermes/a: { stdio: { command: [] } }", "receivers.hermes/a.stdio.command: must not be empty"],
    ['hermes/a: { stdio: { environment: { "A=B": c } } }', "receivers.hermes/a.stdio.environment.A=B: is no variable"],
    [`hermes/a: { url: "${URL}", poll_interval: 0s }`, "receivers.hermes/a.poll_interval: must be a whole number"],
    [`hermes/a: { url: "${URL}", polls: 1s }`, "receivers.hermes/a.polls: is not known here"],
    [`hermes/a b: { url: "${URL}" }`, "receivers.hermes/a b: must be a type"],
  ])("%s is told with its path, and without secrets", (line, problem) => {
    const problems = problemsOf(line);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
    expect(problems[0]).not.toContain("hunter2");
  });

  test("is the only one that speaks for its source", () => {
    expect(problemsOf(`hermes/a: { url: "${URL}" }`, `hermes/b: { url: "${URL}" }`)).toEqual([
      "receivers.hermes/b.source: hermes/a speaks for this source already: each needs its own",
    ]);
    expect(problemsOf(`hermes/a: { url: "${URL}" }`, `hermes/b: { url: "${URL}", source: other }`)).toEqual([]);
  });
});
