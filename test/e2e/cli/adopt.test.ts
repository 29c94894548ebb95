import { expect, it } from "vitest";
import { runCommand, startCommand, startProgram } from "../../kit/program.ts";
import { startLogsServer } from "../sdk/logs-server.ts";

it("a process that runs already is reported present and nothing else, and its end is no end of the child", async () => {
  const server = await startLogsServer();
  const adopted = startProgram(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const argv = ["adopt", "--pid", String(adopted.pid), "--name", "indexer", "--interval", "1"];
  const watching = startCommand([...argv, "--endpoint", server.endpoint]);
  await server.acceptedCount(2);
  adopted.process.kill("SIGKILL");
  await adopted.end;
  expect(await watching.end).toMatchObject({ exitCode: 0 });
  const events = server.accepted();
  expect(events[0]).toMatchObject({
    kind: "created",
    state: "created",
    lineage: { external: true, adoptedAt: expect.any(String) },
    details: { pid: adopted.pid, name: "indexer" },
    capabilities: { heartbeat: "unknown", cancel: "unknown", terminalCause: "unknown" },
  });
  expect(events.slice(1, -1).every(({ kind }) => kind === "heartbeat")).toBe(true);
  expect(events.at(-1)).toMatchObject({ kind: "diagnostic" });
});

it("an interrupted adoption says nothing of the process, which goes on", async () => {
  const server = await startLogsServer();
  const adopted = startProgram(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const watching = startCommand(["adopt", "--pid", String(adopted.pid), "--endpoint", server.endpoint]);
  await server.acceptedCount(1);
  watching.process.kill("SIGINT");
  expect(await watching.end).toMatchObject({ exitCode: 0, signal: null });
  expect(server.accepted().map(({ kind }) => kind)).toEqual(["created"]);
  expect(adopted.process.exitCode).toBeNull();
});

it("a process that is not there cannot be adopted", async () => {
  const { exitCode, stderr } = await runCommand(["adopt", "--pid", "4194303"]);
  expect(exitCode).toBe(2);
  expect(String(stderr)).toContain("there is no process 4194303");
});
