import { HOOKED_AGENTS, UnusableSettings, withHooks, withoutHooks } from "@agent-lifecycle/collector/parts";
import { describe, expect, test } from "vitest";

const COMMAND = "agent-lifecycle hook claude-code";

const FOREIGN = `{
    // mine, and it stays
    "model": "some-model",
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "./check.sh"
                    }
                ]
            }
        ],
        "Elicitation": []
    },
    "env": { "A": "1" }
}
`;

function install(text: string): string {
  return withHooks(text, "claude-code", COMMAND);
}

function uninstall(text: string): string {
  return withoutHooks(text, "claude-code");
}

describe("installing hooks", () => {
  test("adds one to every event that says something, to settings that are empty too", () => {
    for (const text of ["", "{}", "{}\n"]) {
      const { hooks } = JSON.parse(install(text)) as { readonly hooks: Record<string, unknown> };
      expect(Object.keys(hooks)).toEqual(HOOKED_AGENTS["claude-code"].events);
      expect(hooks.Stop).toEqual([{ hooks: [{ type: "command", command: COMMAND, timeout: 5 }] }]);
    }
  });

  test("twice is as good as once, and with another command too", () => {
    const once = install(FOREIGN);
    expect(install(once)).toBe(once);
    expect(withHooks(once, "claude-code", `npx ${COMMAND}`)).toBe(once);
  });

  test("keeps what others have there, comments included", () => {
    const installed = install(FOREIGN);
    for (const line of FOREIGN.split("\n").filter((text) => /mine|model|check\.sh|"A"/.test(text))) {
      expect(installed).toContain(line.trim());
    }
  });

  test("is undone to the last character of what others wrote", () => {
    expect(uninstall(install(FOREIGN))).toBe(FOREIGN);
    expect(JSON.parse(uninstall(install("{}")))).toEqual({});
  });

  test("is undone in meaning where the layout of a list had to be touched", () => {
    const compact = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./check.sh"}]}]}}';
    expect(JSON.parse(uninstall(install(compact)))).toEqual(JSON.parse(compact));
  });

  test("taken out, leaves the hooks that share an entry with ours", () => {
    const other = { type: "command", command: "./other.sh" };
    const ours = { type: "command", command: COMMAND };
    const shared = JSON.stringify({ hooks: { Stop: [{ hooks: [ours, other] }] } });
    expect(JSON.parse(uninstall(shared))).toEqual({ hooks: { Stop: [{ hooks: [other] }] } });
  });

  test("does not take the hooks of another agent, or others that speak of us, for ours", () => {
    const text = JSON.stringify({
      hooks: {
        Stop: [
          { hooks: [{ type: "command", command: "agent-lifecycle hook codex" }] },
          { hooks: [{ type: "command", command: "echo agent-lifecycle" }] },
        ],
      },
    });
    expect(uninstall(text)).toBe(text);
  });

  test("keeps the ends of lines", () => {
    const windows = FOREIGN.replaceAll("\n", "\r\n");
    expect(install(windows).replaceAll("\r\n", "")).not.toContain("\n");
    expect(uninstall(install(windows))).toBe(windows);
  });

  test.each(["[]", "{", '{ "hooks": [] }', '{ "hooks": { "Stop": {} } }'])("leaves %s alone", (text) => {
    expect(() => install(text)).toThrow(UnusableSettings);
  });
});
