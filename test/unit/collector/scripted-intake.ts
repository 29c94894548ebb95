import type { EventOutcome, EventsIntake, Intake, Origin, Refusal, SnapshotIntake } from "@agent-lifecycle/collector";
import { type Diagnostic, normalizeEvent, normalizeSnapshot, type ToleratedAttributes } from "@agent-lifecycle/proto";

/** A door without a store behind it: it judges candidates as the real one does, keeps them, and refuses when told to. */
export class ScriptedIntake implements Intake {
  readonly received: { readonly candidates: readonly unknown[]; readonly origin: Origin }[] = [];
  readonly foreign = new Map<string, number>();
  readonly tolerated: ToleratedAttributes[] = [];
  readonly problems: Diagnostic[] = [];
  /** Taken one by one by the next calls; `undefined` lets a call through. */
  readonly refusals: (Refusal | undefined)[] = [];
  /** Awaited before an answer. */
  gate: Promise<void> = Promise.resolve();

  get candidates(): readonly unknown[] {
    return this.received.flatMap(({ candidates }) => candidates);
  }

  async whenReady(): Promise<void> {}

  async acceptEvents(candidates: readonly unknown[], origin: Origin): Promise<EventsIntake> {
    await this.gate;
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    this.received.push({ candidates, origin });
    return { kind: "stored", outcomes: candidates.map(outcomeOf) };
  }

  async acceptSnapshot(candidate: unknown, origin: Origin): Promise<SnapshotIntake> {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return refusal;
    this.received.push({ candidates: [candidate], origin });
    const normalized = normalizeSnapshot(candidate);
    if (normalized.ok) {
      return { kind: "stored", status: "applied", diagnostics: normalized.diagnostics, corrected: 0, stale: [] };
    }
    return { kind: "stored", status: "rejected", diagnostics: [normalized.diagnostic], corrected: 0, stale: [] };
  }

  countForeign(receiver: string, records: number): void {
    this.foreign.set(receiver, (this.foreign.get(receiver) ?? 0) + records);
  }

  countTolerated(_receiver: string, tolerated: ToleratedAttributes): void {
    this.tolerated.push(tolerated);
  }

  reportProblem(_receiver: string, problem: Diagnostic): void {
    this.problems.push(problem);
  }
}

function outcomeOf(candidate: unknown): EventOutcome {
  const normalized = normalizeEvent(candidate);
  if (normalized.ok) return { status: "applied", diagnostics: normalized.diagnostics };
  return { status: "rejected", diagnostics: [normalized.diagnostic] };
}
