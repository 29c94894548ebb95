import type { EventsIntake, Intake, Refusal, SnapshotIntake } from "../runtime/intake.ts";

/** An intake that stores nothing and remembers everything: a receiver's other side, under a test's control. */
export interface RecordedIntake {
  readonly intake: Intake;
  /** Candidates that were handed over, in order; those of refused calls too. */
  readonly candidates: readonly unknown[];
  /** Calls of any kind. */
  calls(): number;
  /** Resolves when candidates are handed over, at once if they were. */
  readonly handedOver: Promise<void>;
  /** From now on answers wait until `release`. */
  hold(): void;
  release(): void;
  /** From now on nothing is stored. */
  refuse(refusal: Refusal): void;
}

export function recordIntake(): RecordedIntake {
  const candidates: unknown[] = [];
  const { promise: handedOver, resolve: noteHandOver } = Promise.withResolvers<void>();
  let calls = 0;
  let held = Promise.withResolvers<void>();
  let refusal: Refusal | undefined;
  held.resolve();

  async function take(handed: readonly unknown[]): Promise<Refusal | undefined> {
    calls += 1;
    candidates.push(...handed);
    noteHandOver();
    await held.promise;
    return refusal;
  }

  return {
    intake: {
      whenReady: async () => {},
      acceptEvents: async (handed): Promise<EventsIntake> =>
        (await take(handed)) ?? {
          kind: "stored",
          outcomes: handed.map(() => ({ status: "applied", diagnostics: [] })),
        },
      acceptSnapshot: async (candidate): Promise<SnapshotIntake> =>
        (await take([candidate])) ?? { kind: "stored", status: "applied", diagnostics: [], corrected: 0, stale: [] },
      countForeign: () => {
        calls += 1;
      },
      countTolerated: () => {
        calls += 1;
      },
      reportProblem: () => {
        calls += 1;
      },
    },
    candidates,
    calls: () => calls,
    handedOver,
    hold: () => {
      held = Promise.withResolvers<void>();
    },
    release: () => held.resolve(),
    refuse: (stated) => {
      refusal = stated;
    },
  };
}
