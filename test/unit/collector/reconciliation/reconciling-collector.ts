import { StoreUnavailableError } from "@agent-lifecycle/collector";
import { AskedAuthority, type AskingOutcome } from "@agent-lifecycle/collector/parts";
import { type AskingPolicy, type ChildRecord, DEFAULT_ASKING_POLICY } from "@agent-lifecycle/collector/projection";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";
import { type EventMembers, makeEvent, makeSnapshot, type SnapshotMembers } from "../../../kit/events.ts";
import { ScriptedAuthority } from "../../../kit/scripted-authority.ts";
import {
  type MakeAuthorities,
  type RunningCollector,
  SimulatedCollector,
} from "../../../simulation/simulated-collector.ts";
import { SimulatedMachine } from "../../../simulation/simulated-machine.ts";

export const SOURCE = "runner";
export const AUTHORITY_ID = "scripted/runner";
export const ANSWER_TIMEOUT_MS = 5_000;

/** The deciding parts of a collector and an authority that it asks, on a machine whose time a test lets pass. */
export class ReconcilingCollector {
  readonly machine: SimulatedMachine = new SimulatedMachine();
  readonly authority: ScriptedAuthority = new ScriptedAuthority(
    SOURCE,
    () => this.machine.now,
    (run, delayMs) => this.machine.schedule(run, delayMs),
  );
  readonly outcomes: AskingOutcome[] = [];
  readonly simulated: SimulatedCollector;

  /** Default: one authority that is asked by the usual policy, without any jitter. */
  constructor(make?: MakeAuthorities, policy: AskingPolicy = DEFAULT_ASKING_POLICY) {
    this.simulated = new SimulatedCollector(this.machine, undefined, make ?? ((parts) => [this.#asked(parts, policy)]));
    this.simulated.start();
    onTestFinished(() => this.simulated.dispose());
  }

  get running(): RunningCollector {
    const { running } = this.simulated;
    if (running === undefined) throw new Error("the collector is down");
    return running;
  }

  /** Lets time pass until this time after the beginning. Milliseconds. */
  async until(at: number): Promise<void> {
    await this.settle();
    while (this.machine.step(at)) await this.settle();
    await this.settle();
  }

  async settle(): Promise<void> {
    // Answers come by promises, commits by the event loop: two turns of it see both through.
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    const errors = this.running.errors.splice(0).filter((error) => !(error instanceof StoreUnavailableError));
    if (errors.length > 0) throw new Error(`unexpected: ${errors.join("; ")}`);
  }

  /** A child reports something now; it was observed now unless said otherwise. */
  async report(members: EventMembers): Promise<void> {
    const event = makeEvent({ at: this.machine.now, ...members });
    const candidate: unknown = JSON.parse(canonicalEvent(event));
    await this.running.door.acceptEvents([candidate], { receiver: "test", backfill: false, bytes: 0 });
    await this.settle();
  }

  /** A snapshot arrives by a receiver, without having been asked for. */
  async push(receiver: string, members: SnapshotMembers, sender?: string): Promise<string> {
    const candidate: unknown = JSON.parse(JSON.stringify(makeSnapshot({ at: this.machine.now, ...members })));
    const result = await this.running.door.acceptSnapshot(candidate, {
      receiver,
      backfill: false,
      bytes: 0,
      ...(sender === undefined ? undefined : { sender }),
    });
    await this.settle();
    return result.kind === "stored" ? result.status : result.kind;
  }

  child(childId = "child-1"): ChildRecord {
    const record = this.running.state.child(SOURCE, childId);
    if (record === undefined) throw new Error(`there is no ${childId}`);
    return record;
  }

  /** A child's state, and a mark when it is stale. */
  shows(childId?: string): string {
    const { state, stale } = this.child(childId);
    return `${state ?? "unknown"}${stale === undefined ? "" : ` (stale: ${stale.reason})`}`;
  }

  #asked({ intake, schedule }: Parameters<MakeAuthorities>[0], policy: AskingPolicy): AskedAuthority {
    return new AskedAuthority({
      id: AUTHORITY_ID,
      kind: "scripted",
      supportLevel: "experimental",
      snapshotSource: this.authority,
      intake,
      clock: this.machine,
      policy,
      timeoutMs: ANSWER_TIMEOUT_MS,
      onOutcome: (outcome) => void this.outcomes.push(outcome),
      random: () => 0,
      schedule,
    });
  }
}
