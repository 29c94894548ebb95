import type { LimitsConfiguration } from "../config/configuration.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";
import { addressOf, type ConfiguredListener } from "./listeners.ts";
import { askApi } from "./running-collector.ts";

/** Whether a collector answers at the API's address. */
export async function isCollectorAt(api: ConfiguredListener): Promise<boolean> {
  const answer = await askApi(api, "/healthz");
  return answer?.status === 200 && answer.text === '{"status":"ok"}';
}

/** What a running collector says of itself: whether it is ready, and how far it is behind. */
export async function checkRunning(
  api: ConfiguredListener,
  { queueBytes }: Pick<LimitsConfiguration, "queueBytes">,
  readToken: string | undefined,
): Promise<readonly Finding[]> {
  return [await checkReadiness(api), await checkQueue(api, queueBytes, readToken)];
}

async function checkReadiness(api: ConfiguredListener): Promise<Finding> {
  const answer = await askApi(api, "/readyz");
  if (answer?.status === 200) return ok("collector", `a collector runs at ${addressOf(api.endpoint)} and is ready`);
  const text = `a collector runs at ${addressOf(api.endpoint)} and is not ready: ${reasonIn(answer?.text)}`;
  return problem("collector", text, "senders are asked to come again; it goes on by itself once the cause is gone");
}

function reasonIn(text: string | undefined): string {
  try {
    const value: unknown = JSON.parse(text ?? "");
    if (typeof value === "object" && value !== null && "reason" in value) return String(value.reason);
  } catch {
    // Said below.
  }
  return "it does not say why";
}

/** Half full is fuller than it is in good order. */
const BUSY_SHARE = 0.5;

async function checkQueue(
  api: ConfiguredListener,
  limitBytes: number,
  readToken: string | undefined,
): Promise<Finding> {
  const answer = await askApi(api, "/metrics", readToken);
  if (answer?.status === 401 || answer?.status === 403) {
    return warning("queue", "the collector asks for a token to tell how far it is behind", "say it with --read-token");
  }
  const queued = sampleOf("agent_lifecycle_queue_bytes", answer?.text);
  const position = sampleOf("agent_lifecycle_input_log_position", answer?.text);
  if (answer?.status !== 200 || queued === undefined || position === undefined) {
    return warning("queue", "the collector does not tell how far it is behind", "ask its /metrics yourself");
  }
  const text = `${queued} bytes received and not yet durable; the newest input is ${position}`;
  if (queued < limitBytes * BUSY_SHARE) return ok("queue", text);
  return warning("queue", text, "the disk is slower than what comes in: look at its load, or raise limits.queue");
}

/** A metric without labels. */
function sampleOf(name: string, exposition: string | undefined): number | undefined {
  const line = exposition?.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  const value = Number(line?.slice(name.length + 1));
  return line === undefined || Number.isNaN(value) ? undefined : value;
}
