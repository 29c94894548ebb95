import { type ChildView, isTerminal } from "@agent-lifecycle/proto";
import { describe, expect, inject, test } from "vitest";
import { historyOf } from "../../kit/child-history.ts";
import { documentedPart } from "../../kit/documented-part.ts";
import { endOf, openSession, startOf } from "./delegated-work.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { HERMES_PACKAGES, titleOf } from "./installation.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { allRun } from "./observed-work.ts";
import { type ObservingCollector, SOURCE, startObservingCollector } from "./observing-collector.ts";
import { connectOwner, type Owner } from "./owner.ts";
import { READING } from "./reading-methods.ts";
import { type Relay, startRelay } from "./relay.ts";
import { lastingTable, matrixTable, type SessionKind, type SessionResult, sessionKinds } from "./session-matrix.ts";

const MODELS = ["claude-opus-4-6", "gpt-5"] as const;
const PROFILE = "routed";

interface Parties {
  readonly model: ModelServer;
  readonly gateway: Gateway;
  readonly relay: Relay;
  readonly collector: ObservingCollector;
  readonly owner: Owner;
}

type ObservedSession = Pick<SessionResult, "kind" | "gatewaySays" | "askedAtOpen"> & {
  readonly goal: string;
  readonly childId: string;
};

for (const build of HERMES_PACKAGES) {
  const title = titleOf(build);
  describe(`new sessions in the gateway of ${title}`, () => {
    test("are observed alike, whatever their model is, however it was chosen, and whether or not a profile routes them", async ({
      skip,
    }) => {
      const installation = inject("installations")[title];
      // What was not run has not passed.
      if (installation?.isThere !== true) return skip(`not run: ${installation?.reason}`);
      const model = await startModelServer(MODELS);
      const gateway = await startGateway({
        python: installation.python,
        modelUrl: model.url,
        defaultModel: MODELS[0],
      });
      const relay = await startRelay(gateway.url);
      const collector = await startObservingCollector(relay.url, gateway.token);
      const owner = await connectOwner(gateway);
      const parties: Parties = { model, gateway, relay, collector, owner };
      const sessions: ObservedSession[] = [];
      for (const kind of sessionKinds(MODELS)) sessions.push(await observeSession(parties, kind, build.replays));
      const results: SessionResult[] = [];
      for (const session of sessions) results.push(await resultOf(parties, session));
      const table = matrixTable(results);
      console.log(`\n${title}\n${table}`);

      for (const { kind, shownModel, askedModel } of results) {
        expect({ kind, shownModel, askedModel }).toEqual({
          kind,
          shownModel: kind.model,
          askedModel: kind.model,
        });
      }
      // No gateway names a child's profile, so that none is claimed.
      const profiles = new Set(results.map(({ routingProfile }) => routingProfile));
      expect([...profiles]).toEqual(["UNPROFILED"]);
      const lives = new Set(results.map(({ life }) => life));
      expect([...lives]).toEqual([
        build.replays ? "created, starting, running, completed (event)" : "running, lost (failed_reconciliation)",
      ]);
      expect(relay.asked.filter((method) => !READING.has(method))).toEqual([]);
      const { adapter } = await collector.source();
      expect(adapter).toMatchObject({ eventsRefused: 0, problems: {} });
      const lasting = lastingTable(results);
      expect(documentedPart("testing/hermes-new-session-matrix.md", title, lasting)).toBe(lasting);
    });
  });
}

/** Opens such a session, and has one child delegated in it that ends when the collector has shown that it runs. */
async function observeSession(
  { model, gateway, relay, collector, owner }: Parties,
  kind: SessionKind,
  hasStream: boolean,
): Promise<ObservedSession> {
  const other = MODELS.find((each) => each !== kind.model) ?? kind.model;
  // Whoever chooses a model chooses another one than the default.
  const defaultModel = kind.choice === "default" ? kind.model : other;
  gateway.setDefaultModel(kind.profile === "present" ? other : defaultModel);
  if (kind.profile === "present") gateway.setProfile(PROFILE, defaultModel);
  const chosen = {
    ...(kind.choice === "explicit" ? { model: kind.model } : undefined),
    ...(kind.profile === "none" ? undefined : { profile: PROFILE }),
  };
  if (kind.profile === "removed") {
    gateway.setProfile(PROFILE, other);
    gateway.removeProfile(PROFILE);
  }
  const goal = `Answer a question (${kind.model}, ${kind.choice}, profile ${kind.profile})`;
  const prompt = `Have somebody answer (${kind.model}, ${kind.choice}, profile ${kind.profile}).`;
  const gate = Promise.withResolvers<void>();
  model.script(prompt, [
    { kind: "uses_tool", tool: "delegate_task", input: { goal } },
    { kind: "answers", text: "Somebody does." },
  ]);
  model.script(goal, [{ kind: "answers", text: "Yes.", after: gate.promise }]);

  const { sessionId, gatewaySays } = await openAsFarAsItGoes(owner, chosen);
  // The gateway has the session, and nothing happens in it before the collector has asked who runs, and found the session
  // by itself: nobody has told it of this one.
  await relay.nextCall("delegation.status");
  if (hasStream) await relay.nextCall("session.events.since", sessionId);
  const askedAtOpen = hasStream ? "who runs, and its stream" : "who runs";
  await owner.ask("prompt.submit", { session_id: sessionId, text: prompt });
  const childId = await startOf(owner, goal);
  await allRun(collector, [childId]);
  gate.resolve();
  await endOf(owner, goal);
  await owner.ask("session.close", { session_id: sessionId });
  return { kind, gatewaySays, askedAtOpen, goal, childId };
}

/** What the collector made of it, when the child's end is told. */
async function resultOf({ model, collector }: Parties, session: ObservedSession): Promise<SessionResult> {
  const { goal, childId } = session;
  const ended = await collector.stream.until(
    (child) => child.childId === childId && child.state !== null && isTerminal(child.state),
  );
  return {
    ...session,
    askedModel: model.calls.find(({ about }) => about === goal)?.model ?? "-",
    shownModel: ended.facts.model ?? "-",
    ...(await lifeOf(collector, ended)),
  };
}

/** The gateway may refuse a profile that is gone. That is its own decision, and the session is opened without it. */
async function openAsFarAsItGoes(
  owner: Owner,
  { profile, ...rest }: { readonly model?: string; readonly profile?: string },
): Promise<{ readonly sessionId: string; readonly gatewaySays: string }> {
  if (profile === undefined) return { sessionId: await openSession(owner, rest), gatewaySays: "opens it" };
  try {
    return { sessionId: await openSession(owner, { ...rest, profile }), gatewaySays: "opens it" };
  } catch (error) {
    const gatewaySays = `refuses the profile (${String(error).match(/-?\d{4,}/)?.[0]}), opens it without`;
    return { sessionId: await openSession(owner, rest), gatewaySays };
  }
}

async function lifeOf(
  { process, stream }: ObservingCollector,
  { childId, terminalEvidence, facts }: ChildView,
): Promise<Pick<SessionResult, "life" | "routingProfile">> {
  const inputs = await historyOf(process, SOURCE, childId);
  const told = inputs.flatMap(({ event }) => (event === null ? [] : [event]));
  const states = told.flatMap(({ state }) => (state === undefined ? [] : [state]));
  const shown = stream.seen.filter((child) => child.childId === childId).map(({ state }) => `${state}`);
  const life = states.length > 0 ? states : shown.filter((state, index) => state !== shown[index - 1]);
  return { life: `${life.join(", ")} (${terminalEvidence})`, routingProfile: facts.routingProfile ?? "-" };
}
