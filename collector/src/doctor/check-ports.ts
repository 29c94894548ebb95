import { createServer } from "node:net";
import type { Endpoint } from "../config/configuration.ts";
import { errorCodeOf, type Finding, ok, problem, warning } from "./finding.ts";
import { addressOf, type ConfiguredListener } from "./listeners.ts";
import { holderOfPort, type PortHolder } from "./port-holder.ts";

/**
 * Whether each server could listen, or whom its port belongs to.
 * @param isCollectorRunning whether a collector answers at the configured API address: its ports are rightly taken
 */
export async function checkPorts(
  listeners: readonly ConfiguredListener[],
  isCollectorRunning: boolean,
): Promise<readonly Finding[]> {
  const api = listeners.find(({ name }) => name === "API");
  const running = isCollectorRunning && api !== undefined ? await holderOfPort(api.endpoint.port) : undefined;
  const isAskable = api?.tls?.clientCaFile === undefined;
  const findings: Finding[] = [];
  for (const listener of listeners) {
    findings.push(await checkPort(listener, { isCollectorRunning, running, isAskable }));
  }
  return findings;
}

interface Known {
  readonly isCollectorRunning: boolean;
  /** Who has the API's port, when that is a collector. */
  readonly running: PortHolder | undefined;
  /** Whether a running collector would answer us: one that demands client certificates does not. */
  readonly isAskable: boolean;
}

async function checkPort(
  { name, endpoint }: ConfiguredListener,
  { isCollectorRunning, running, isAskable }: Known,
): Promise<Finding> {
  if (endpoint.port === 0) return ok("port", `${name} takes any free port`);
  const address = addressOf(endpoint);
  const code = await tryListening(endpoint);
  if (code === undefined) return ok("port", `${name} ${address} is free`);
  if (code !== "EADDRINUSE") return problem("port", `${name} ${address}: ${code}`, adviceFor(code, endpoint));
  const holder = await holderOfPort(endpoint.port);
  const who = holder === undefined ? "another process" : `${holder.program} (process ${holder.pid})`;
  if (isCollectorRunning && (name === "API" || holder === undefined || holder.pid === running?.pid)) {
    return ok("port", `${name} ${address} is held by the running collector${holder ? ` (process ${holder.pid})` : ""}`);
  }
  if (!isAskable) {
    const text = `${name} ${address} is taken by ${who}; its API demands client certificates and cannot be asked`;
    return warning("port", text, "look whether that is the collector; if not, stop it or choose another port");
  }
  const advice = `stop it, or choose another port; find it with: ss -ltnp 'sport = :${endpoint.port}'`;
  return problem("port", `${name} ${address} is taken by ${who}`, advice);
}

/** @returns why not, or `undefined` */
function tryListening({ host, port }: Endpoint): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(errorCodeOf(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

function adviceFor(code: string, { host }: Endpoint): string {
  if (code === "EACCES") return "ports below 1024 are for privileged users: choose a higher one";
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${host} is no address of this machine: choose one that is`;
  return "choose another address or port";
}
