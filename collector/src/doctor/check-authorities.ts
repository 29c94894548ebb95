import { isJsonObject, normalizeSnapshot, parseTimestamp, redactText } from "@agent-lifecycle/proto";
import { type ConfiguredSnapshotSource, snapshotSourcesInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import { freshnessOf } from "../config/freshness.ts";
import type { Clock } from "../runtime/clock.ts";
import { createHttpSnapshotSource } from "../snapshot-sources/http-snapshot-source.ts";
import { type Finding, ok, problem, sentenceOf, warning } from "./finding.ts";
import type { ConfiguredListener } from "./listeners.ts";
import { askApi } from "./running-collector.ts";

const CHECK = "authority";

type HttpSource = ConfiguredSnapshotSource & { readonly type: "http" };

/**
 * Asks each authority that is asked over HTTP once, as the collector would, and a running collector how it goes with all
 * of them. Nothing of an answer is stored.
 * @param api of the collector that runs; `undefined`: none does
 */
export async function checkAuthorities(
  configuration: CollectorConfiguration,
  clock: Clock,
  api: ConfiguredListener | undefined,
  readToken: string | undefined,
): Promise<readonly Finding[]> {
  const sources = snapshotSourcesInUse(configuration);
  if (sources.length === 0) return [];
  const asked = sources.filter((source) => source.type === "http");
  const answers = await Promise.all(asked.map((source) => askOnce(source, configuration, clock)));
  const known = api === undefined ? sources.flatMap(expected) : await askCollector(sources, api, readToken, clock);
  return [...answers, ...known];
}

async function askOnce(
  { id, settings }: HttpSource,
  { lifecycle }: CollectorConfiguration,
  clock: Clock,
): Promise<Finding> {
  const { source, timeoutMs } = settings;
  const authority = createHttpSnapshotSource(settings);
  const timeout = AbortSignal.timeout(timeoutMs);
  let answer: unknown;
  try {
    answer = await authority.fetch(timeout);
  } catch (error) {
    const text = timeout.aborted ? `no answer within ${timeoutMs} ms` : redactText(sentenceOf(error));
    return problem(
      CHECK,
      `${id} does not answer: ${text}`,
      "silent children of its source are lost until it does: start it, or correct its url, token or tls",
    );
  } finally {
    await authority.shutdown();
  }
  const normalized = normalizeSnapshot(answer);
  if (!normalized.ok) {
    const { path, text } = normalized.diagnostic;
    const why = [path, text].filter((part) => part !== undefined && part !== "").join(": ");
    return problem(CHECK, `${id} answers with what is no snapshot: ${why}`, "see section 5 of docs/contract.md");
  }
  const { snapshot } = normalized;
  if (snapshot.source !== source) {
    return problem(CHECK, `${id} answers for another source than ${source}`, "make both name the same one");
  }
  if (!snapshot.complete) {
    return warning(CHECK, `${id} answers, and says that its view is not complete`, "it can prove nobody's absence so");
  }
  const ageMs = Math.round(clock.wallNow() - (parseTimestamp(snapshot.observedAt) ?? 0));
  if (Math.abs(ageMs) > freshnessOf(lifecycle, source).staleAfterMs) {
    return warning(
      CHECK,
      `${id} answers with a view that is ${ageMs} ms old by the clock here`,
      "it must look anew when it is asked; else set the clocks by NTP",
    );
  }
  return ok(CHECK, `${id} answers for ${source} with ${snapshot.children.length} children`);
}

function expected({ type, id, settings }: ConfiguredSnapshotSource): readonly Finding[] {
  if (type !== "push") return [];
  return [ok(CHECK, `${id} is to push every ${settings.intervalMs} ms, once a collector runs`)];
}

/** How it goes, by the collector that asks. */
async function askCollector(
  sources: readonly ConfiguredSnapshotSource[],
  api: ConfiguredListener,
  readToken: string | undefined,
  clock: Clock,
): Promise<readonly Finding[]> {
  const answer = await askApi(api, "/api/v1/sources", readToken);
  if (answer?.status === 401 || answer?.status === 403) {
    return [warning(CHECK, "the collector asks for a token to tell of its authorities", "say it with --read-token")];
  }
  const authorities = authoritiesIn(answer?.text);
  return sources.map(({ id, type }) => {
    const authority = authorities.get(id);
    if (authority === undefined) {
      return warning(
        CHECK,
        `the collector that runs knows nothing of ${id}`,
        "restart it: a reload does not add authorities",
      );
    }
    return judge(id, type, authority, clock.wallNow());
  });
}

function judge(
  id: string,
  type: ConfiguredSnapshotSource["type"],
  authority: Readonly<Record<string, unknown>>,
  now: number,
): Finding {
  const { answers, failuresInARow, lastAnsweredAt, lastFailure, nextDueAt } = authority;
  if (typeof failuresInARow === "number" && failuresInARow > 0) {
    const text = `${id} has not answered the collector ${failuresInARow} times in a row: ${String(lastFailure)}`;
    return problem(CHECK, text, "silent children of its source are lost until it does");
  }
  const isOverdue = (parseTimestamp(String(nextDueAt)) ?? Number.POSITIVE_INFINITY) < now;
  if (type === "push" && (answers === 0 || isOverdue)) {
    const text =
      answers === 0 ? `${id} has pushed nothing yet` : `${id} last pushed at ${String(lastAnsweredAt)}, and is overdue`;
    return problem(CHECK, text, "look at the one who is to push, its token, and the collector's diagnostics");
  }
  if (answers === 0) return ok(CHECK, `${id} is being asked for the first time`);
  return ok(CHECK, `${id} has answered the collector, last at ${String(lastAnsweredAt)}`);
}

function authoritiesIn(text: string | undefined): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text ?? "");
  } catch {
    return new Map();
  }
  const sources = isJsonObject(parsed) ? parsed["sources"] : undefined;
  if (!Array.isArray(sources)) return new Map();
  return new Map(
    sources.flatMap((source: unknown) => {
      const authority = isJsonObject(source) ? source["authority"] : undefined;
      return isJsonObject(authority) ? [[String(authority["id"]), authority] as const] : [];
    }),
  );
}
