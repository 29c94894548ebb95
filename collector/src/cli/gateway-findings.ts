import { receiversInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import type { HermesReceiverConfiguration } from "../config/hermes-configuration.ts";
import { isLoopback } from "../config/loopback.ts";
import { type Finding, ok, problem, warning } from "../doctor/finding.ts";
import { displayAddress } from "../receivers/hermes/gateway-address.ts";
import { type GatewayProbe, probeGateway } from "../receivers/hermes/probe-gateway.ts";

const CHECK = "gateway";
/** Who asks waits for it. */
const MAX_PROBE_TIMEOUT_MS = 5_000;

/** Whether the gateways of Hermes that a collector would observe answer, and what they offer. */
export async function gatewayFindings(configuration: CollectorConfiguration): Promise<readonly Finding[]> {
  const gateways = receiversInUse(configuration).filter((receiver) => receiver.type === "hermes");
  const findings = await Promise.all(gateways.map(({ id, settings }) => lookAt(id, settings)));
  return findings.flat();
}

async function lookAt(id: string, settings: HermesReceiverConfiguration): Promise<readonly Finding[]> {
  const { url, stdio, attach, cancel, maxFrameBytes, requestTimeoutMs } = settings;
  if (stdio !== undefined) return [ok(CHECK, `${id} is started with the collector: ${stdio.command[0]}`)];
  // What is wrong with the address is told as a problem of the configuration.
  if (url === undefined || !URL.canParse(url)) return [];
  const timeoutMs = Math.min(requestTimeoutMs, MAX_PROBE_TIMEOUT_MS);
  const probe = await probeGateway({ address: { ...settings, url }, attach, cancel, maxFrameBytes, timeoutMs });
  return [finding(`${id} at ${displayAddress(url)}`, probe), ...inTheClear(id, settings, new URL(url))];
}

function finding(gateway: string, probe: GatewayProbe): Finding {
  if (probe.kind === "answers") return ok(CHECK, `${gateway} answers: ${offer(probe)}`);
  const { kind, text } = probe.end;
  if (kind === "refused") {
    return problem(CHECK, `${gateway} does not let us in: ${text}`, "check token, token_file or login_cookie");
  }
  return warning(
    CHECK,
    `${gateway} does not answer: ${text}`,
    "start it (hermes serve), or correct url; a collector connects as soon as it is there",
  );
}

function offer({ features, capabilities, running }: GatewayProbe & { readonly kind: "answers" }): string {
  const known = Object.entries(capabilities).filter(([, knowledge]) => knowledge === "known");
  const parts = [
    running === undefined ? "it does not say who runs" : `${running} ${running === 1 ? "child runs" : "children run"}`,
    features.replay
      ? "what happened can be read"
      : "what happened cannot be read, so that how a child ended is not known",
    ...(features.sharedSessions ? ["sessions are shared"] : []),
    `known of its children: ${known.map(([name]) => name).join(", ")}`,
  ];
  return parts.join("; ");
}

function inTheClear(id: string, settings: HermesReceiverConfiguration, url: URL): readonly Finding[] {
  const { token, tokenFile, loginCookie, loginCookieFile } = settings;
  const hasCredential = [token, tokenFile, loginCookie, loginCookieFile].some((credential) => credential !== undefined);
  if (!hasCredential || url.protocol !== "ws:" || isLoopback(url.hostname.replace(/^\[|\]$/g, ""))) return [];
  return [
    warning(
      CHECK,
      `the credential of ${id} travels to ${url.host} in the clear: whoever reads it may do everything that the gateway can`,
      "use wss://, or a tunnel",
    ),
  ];
}
