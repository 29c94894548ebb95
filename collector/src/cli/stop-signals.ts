import { EXIT_CODE } from "./exit-code.ts";

/** Signals that ask the process to end, from the moment of the call on. */
export interface StopSignals {
  /** Resolves with the first one. The second ends the process at once. */
  readonly first: Promise<NodeJS.Signals>;
}

/** Listens for signals; `names` are all that ask for an end. */
export function listenForStop(names: readonly NodeJS.Signals[]): StopSignals {
  let received = 0;
  const first = new Promise<NodeJS.Signals>((resolve) => {
    const onSignal = (name: NodeJS.Signals): void => {
      received += 1;
      if (received === 1) resolve(name);
      else endNow(`${name} while stopping: ended at once, what was not acknowledged is not stored`);
    };
    for (const name of names) process.on(name, onSignal);
  });
  return { first };
}

/** Ends the process without waiting for anybody, as one that did not stop as it should. */
export function endNow(reason: string): never {
  process.stderr.write(`agent-lifecycle: ${reason}\n`);
  process.exit(EXIT_CODE.findings);
}
