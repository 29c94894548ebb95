import { type ChildView, isTerminal } from "@agent-lifecycle/proto";
import { haveWorkDone, PLAN, type SeenWork, scriptWork } from "./delegated-work.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import type { HermesPackage } from "./installation.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { type ObservingCollector, startObservingCollector } from "./observing-collector.ts";
import { connectOwner, type Owner } from "./owner.ts";
import { type Relay, startRelay } from "./relay.ts";

/** Work that was done under the collector's eyes. All of it still runs. */
export interface ObservedWork {
  readonly build: HermesPackage;
  readonly model: ModelServer;
  readonly gateway: Gateway;
  readonly owner: Owner;
  readonly relay: Relay;
  readonly collector: ObservingCollector;
  readonly seen: SeenWork;
  /** As the collector shows them, by goal. */
  readonly shown: ReadonlyMap<string, ChildView>;
}

const MODEL = "gpt-5";

export async function observedWork(python: string, build: HermesPackage): Promise<ObservedWork> {
  const model = await startModelServer([MODEL]);
  const gateway = await startGateway({ python, modelUrl: model.url, defaultModel: MODEL });
  const relay = await startRelay(gateway.url);
  const collector = await startObservingCollector(relay.url, gateway.token);
  const owner = await connectOwner(gateway);
  const gate = Promise.withResolvers<void>();
  scriptWork(model, gate.promise);
  const seen = await haveWorkDone(owner, build, gate.resolve, (ids) => allRun(collector, [...ids.values()]));
  for (const goal of seen.ends.keys()) {
    await collector.stream.until(
      ({ childId, state }) => childId === seen.ids.get(goal) && state !== null && isTerminal(state),
    );
  }
  const children = await collector.children();
  const shown = new Map<string, ChildView>();
  for (const { goal } of PLAN) {
    const child = children.find(({ childId }) => childId === seen.ids.get(goal));
    if (child !== undefined) shown.set(goal, child);
  }
  return { build, model, gateway, owner, relay, collector, seen, shown };
}

/** The same work in a gateway of its own, with nobody there but its owner. */
export async function unobservedWork(python: string, build: HermesPackage): Promise<SeenWork> {
  const model = await startModelServer([MODEL]);
  const gateway = await startGateway({ python, modelUrl: model.url, defaultModel: MODEL });
  const owner = await connectOwner(gateway);
  const gate = Promise.withResolvers<void>();
  scriptWork(model, gate.promise);
  const seen = await haveWorkDone(owner, build, gate.resolve, async () => {});
  owner.close();
  await gateway.kill();
  return seen;
}

/** Resolves when the collector has shown that each of them runs. */
export async function allRun(collector: ObservingCollector, ids: readonly string[]): Promise<void> {
  for (const id of ids) await collector.stream.until(({ childId, state }) => childId === id && state === "running");
}
