import { redactText } from "@agent-lifecycle/proto";
import { ASKING_JITTER } from "../core/index.ts";
import { type ConfiguredSnapshotSource, receiversInUse, snapshotSourcesInUse } from "./components.ts";
import type { CollectorConfiguration } from "./configuration.ts";
import { freshnessOf } from "./freshness.ts";
import { isLoopback } from "./loopback.ts";
import type { ConfigurationPath, ConfigurationProblem } from "./problem.ts";
import type {
  AskedSourceConfiguration,
  HttpSnapshotSourceConfiguration,
  PushSnapshotSourceConfiguration,
} from "./snapshot-source-configuration.ts";

/** What is wrong with the snapshot sources that run. No text holds a token. */
export function snapshotSourceProblems(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  const used = snapshotSourcesInUse(configuration);
  // A gateway is the authority for its own children.
  const gateways = receiversInUse(configuration).filter((receiver) => receiver.type === "hermes");
  const named = [...gateways, ...used].map(({ id, settings }): NamedAuthority => ({ id, source: settings.source }));
  return used.flatMap((source, index) => {
    const path = ["snapshot_sources", source.id];
    return [
      ...sourceProblems(path, source, named.slice(0, gateways.length + index)),
      ...(source.type === "push"
        ? pushProblems(path, source.settings, configuration)
        : askingProblems(path, source.settings, configuration)),
      ...(source.type === "http"
        ? [...urlProblems(path, source.settings), ...credentialProblems(path, source.settings)]
        : []),
    ];
  });
}

interface NamedAuthority {
  readonly id: string;
  readonly source: string;
}

/** A source has one authority at most: two could say different things, and nobody could tell which of them is right. */
function sourceProblems(
  path: ConfigurationPath,
  { settings }: ConfiguredSnapshotSource,
  earlier: readonly NamedAuthority[],
): readonly ConfigurationProblem[] {
  const { source } = settings;
  // What is not stated at all is told already.
  if (source === undefined) return [];
  if (source === "" || source !== source.trim()) {
    return [{ path: [...path, "source"], text: "must be a name without spaces around it" }];
  }
  const other = earlier.find((candidate) => candidate.source === source);
  if (other === undefined) return [];
  const text = `${other.id} is the authority of this source already: a source has one at most`;
  return [{ path: [...path, "source"], text }];
}

/** A question that is asked when a child falls silent must have its whole time before the child is judged. */
function askingProblems(
  path: ConfigurationPath,
  { source, intervalMs, timeoutMs, retry }: AskedSourceConfiguration,
  { lifecycle }: CollectorConfiguration,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const { initialIntervalMs, maxIntervalMs } = retry;
  checkQuantity(problems, [...path, "interval"], intervalMs);
  checkQuantity(problems, [...path, "timeout"], timeoutMs);
  checkQuantity(problems, [...path, "retry", "initial_interval"], initialIntervalMs);
  checkQuantity(problems, [...path, "retry", "max_interval"], maxIntervalMs);
  if (problems.length > 0) return problems;
  if (maxIntervalMs < initialIntervalMs) {
    const text = `${maxIntervalMs} ms is below initial_interval, ${initialIntervalMs} ms`;
    problems.push({ path: [...path, "retry", "max_interval"], text });
  }
  const { reconcileDeadlineMs } = freshnessOf(lifecycle, source);
  const longestMs = Math.ceil(2 * timeoutMs + (1 + ASKING_JITTER) * maxIntervalMs);
  if (longestMs >= reconcileDeadlineMs) {
    const text =
      `a question could come to its answer only after ${longestMs} ms (timeout ${timeoutMs} ms twice, and retry.max_interval ` +
      `${maxIntervalMs} ms with its spread); reconcile_deadline of ${source} is ${reconcileDeadlineMs} ms: ` +
      "a child could be lost without its authority having been heard";
    problems.push({ path, text });
  }
  return problems;
}

function pushProblems(
  path: ConfigurationPath,
  { source, intervalMs, tokenName }: PushSnapshotSourceConfiguration,
  { lifecycle, access }: CollectorConfiguration,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  checkQuantity(problems, [...path, "interval"], intervalMs);
  const { reconcileDeadlineMs } = freshnessOf(lifecycle, source);
  if (2 * intervalMs > reconcileDeadlineMs) {
    const text =
      `${intervalMs} ms fits less than twice into reconcile_deadline of ${source}, ${reconcileDeadlineMs} ms: ` +
      "one late snapshot would make silent children lost";
    problems.push({ path: [...path, "interval"], text });
  }
  const senders = [...access.tokens, ...access.certificates];
  const pushers = senders.filter(({ scopes, sources }) => {
    return scopes.includes("ingest") && (sources === undefined || sources.includes(source));
  });
  if (tokenName !== undefined) {
    if (!pushers.some(({ name }) => name === tokenName)) {
      problems.push({
        path: [...path, "token_name"],
        text: "names no token or certificate of access that may send for this source",
      });
    }
  } else if (pushers.length === 0 && senders.some(({ scopes }) => scopes.includes("ingest"))) {
    problems.push({ path, text: `nobody whom access names may send for ${source}: nobody could push` });
  }
  return problems;
}

function urlProblems(
  path: ConfigurationPath,
  { url: stated, token, tokenFile, tls }: HttpSnapshotSourceConfiguration,
): readonly ConfigurationProblem[] {
  if (stated === undefined) return [];
  const at = [...path, "url"];
  const url = URL.parse(stated);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return [{ path: at, text: "must be a URL that begins with http:// or https://" }];
  }
  const problems: ConfigurationProblem[] = [];
  if (url.username !== "" || url.password !== "" || redactText(stated) !== stated) {
    problems.push({ path: at, text: "must hold no credentials: they belong into token or token_file" });
  }
  if (url.hash !== "") problems.push({ path: at, text: "must have no fragment: it would not be sent" });
  if (url.protocol === "https:") return problems;
  if (tls !== undefined) problems.push({ path: [...path, "tls"], text: "the URL is one of plain http" });
  const host = url.hostname.replaceAll(/[[\]]/g, "");
  if ((token !== undefined || tokenFile !== undefined) && !isLoopback(host)) {
    problems.push({ path: at, text: `would send a token to ${host} in plain text: use https` });
  }
  return problems;
}

function credentialProblems(
  path: ConfigurationPath,
  { token, tokenFile, tls, maxAnswerBytes }: HttpSnapshotSourceConfiguration,
): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  checkQuantity(problems, [...path, "max_answer"], maxAnswerBytes);
  if (token !== undefined && tokenFile !== undefined) {
    problems.push({ path, text: "has both token and token_file" });
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const text = "must be printable ASCII without spaces, as it travels in a header";
    problems.push({ path: [...path, "token"], text });
  }
  if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined)) {
    problems.push({ path: [...path, "tls"], text: "needs both cert_file and key_file, or neither" });
  }
  return problems;
}

function checkQuantity(problems: ConfigurationProblem[], path: ConfigurationPath, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  problems.push({ path, text: `must be a whole number above 0, not ${value}` });
}
