import { expectNothingLeftOpen } from "./open-resources.ts";

/** One sentence of a contract, and its test. For any test runner: `test(rule.name, rule.run)`. */
export interface ContractRule {
  readonly name: string;
  /** Resolves when the rule is kept. @throws Error that says how it is broken. */
  run(): Promise<void>;
}

/** Longest time that any step of a rule may take before it counts as hanging. Milliseconds. */
const STEP_TIMEOUT_MS = 15_000;

/** A rule that makes its subject anew, leaves nothing open, and hangs for no longer than a while. */
export function ruleOf<Subject extends { dispose?(): Promise<void> }>(
  name: string,
  create: () => Promise<Subject>,
  check: (subject: Subject) => Promise<void>,
): ContractRule {
  return {
    name,
    run: () =>
      expectNothingLeftOpen(async () => {
        const subject = await create();
        try {
          await check(subject);
        } finally {
          await subject.dispose?.();
        }
      }),
  };
}

/** Waits for a step. @throws Error that names the step when it does not end. */
export async function step<Value>(name: string, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} has not ended within ${STEP_TIMEOUT_MS} ms`)), STEP_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const TURNS = 50;

/** Whether a promise has settled by itself after the event loop went round a good number of times. */
export async function settlesByItself(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const note = (): void => {
    isSettled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < TURNS && !isSettled; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
}
