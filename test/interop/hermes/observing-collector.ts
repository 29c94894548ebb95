import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChildrenPage, ChildView, SourcesView, SourceView } from "@agent-lifecycle/proto";
import { stringify } from "yaml";
import { type ChildStream, openChildStream } from "../../kit/child-stream.ts";
import { type CollectorProcess, startCollector } from "../../kit/collector-process.ts";
import { temporaryDirectory } from "../../kit/event-file.ts";

/** Short, so that silence need not be waited for, and long enough for a busy machine. Seconds. */
export const FRESHNESS = { staleAfter: 10, reconcileDeadline: 4 } as const;

/** The real collector as a second client of a gateway, by nothing but its configuration. */
export interface ObservingCollector {
  readonly process: CollectorProcess;
  /** Everything it has ever shown, change by change. */
  readonly stream: ChildStream;
  children(): Promise<readonly ChildView[]>;
  source(): Promise<SourceView>;
}

export const SOURCE = "hermes";

export async function startObservingCollector(url: string, token: string): Promise<ObservingCollector> {
  const folder = temporaryDirectory();
  const file = join(folder, "collector.yaml");
  writeFileSync(
    file,
    stringify({
      receivers: {
        otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } },
        hermes: { url, token, source: SOURCE, poll_interval: "200ms" },
      },
      lifecycle: {
        stale_after: `${FRESHNESS.staleAfter}s`,
        reconcile_deadline: `${FRESHNESS.reconcileDeadline}s`,
        check_interval: "200ms",
      },
    }),
  );
  const process = await startCollector(join(folder, "collector.db"), ["--config", file]);
  const stream = await openChildStream(process.apiUrl);
  return {
    process,
    stream,
    children: async () => (await process.get<ChildrenPage>("/api/v1/children?limit=1000")).children,
    source: async () => {
      const { sources } = await process.get<SourcesView>("/api/v1/sources");
      const source = sources.find((each) => each.source === SOURCE);
      if (source === undefined) throw new Error("the collector observes no gateway");
      return source;
    },
  };
}
