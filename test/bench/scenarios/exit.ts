import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figure } from "../measure/figure.ts";
import { startCountingSink } from "../processes/counting-sink-process.ts";
import type { ScenarioContext } from "../scenario.ts";

const HOST = fileURLToPath(import.meta.resolve("../load/exiting-host.js"));
/** Nobody listens on it. */
const NOBODY = "http://127.0.0.1:9";

/** How much longer a program that reports 104 events takes from its own last line to its end. */
export async function measureExit({ quick, folder }: ScenarioContext): Promise<readonly Figure[]> {
  const sink = await startCountingSink(undefined);
  const spool = { AGENT_LIFECYCLE_SPOOL: join(folder, "spool") };
  const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    none: {},
    delivered: { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url },
    dropped: { OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY },
    spooled: { OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY, ...spool },
  };
  const samples: Record<string, number[]> = { none: [], delivered: [], dropped: [], spooled: [] };
  try {
    for (let round = 0; round < (quick ? 5 : 15); round += 1) {
      for (const [kind, environment] of Object.entries(kinds)) samples[kind]?.push(await exitTime(kind, environment));
    }
  } finally {
    await sink.stop();
  }
  const baseline = { name: "the same program without the SDK", samples: samples["none"] ?? [] };
  const figure = (what: string, kind: string): Figure => ({
    what: `end of a program, ${what}`,
    unit: "ms",
    samples: samples[kind] ?? [],
    baseline,
  });
  return [
    figure("events delivered", "delivered"),
    figure("nobody listens", "dropped"),
    figure("nobody listens, events to the spool", "spooled"),
  ];
}

/** Milliseconds from the program's last line to its end. */
async function exitTime(kind: string, environment: Readonly<Record<string, string>>): Promise<number> {
  const argv = [HOST, kind === "none" ? "none" : "sdk"];
  const host = spawn(process.execPath, argv, {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  host.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const ended = once(host, "exit").then(() => performance.timeOrigin + performance.now());
  await once(host, "close");
  return Math.max((await ended) - Number(said), 0);
}
