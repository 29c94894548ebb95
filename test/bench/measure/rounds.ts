/** Does a fixed amount of work and says how much that was, in the unit the rate is given in. */
export type Work = () => number | Promise<number>;

export interface RoundsOptions {
  readonly rounds: number;
  /** Rounds before the first that counts, for the compiler to settle. Default 2. */
  readonly warmUps?: number;
  /** Puts things back in order after each piece; not measured. */
  readonly settle?: () => Promise<void>;
}

/**
 * Runs pieces of work in turns (A B C, A B C, …), so that whatever else the machine does falls on all of them. The heap
 * is collected before each: nobody pays for another's litter.
 * @returns for each piece its rates, units of work per second, one a round.
 */
export async function ratesInTurns<Name extends string>(
  pieces: Readonly<Record<Name, Work>>,
  { rounds, warmUps = 2, settle }: RoundsOptions,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const names = Object.keys(pieces) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of names) {
      collectGarbage();
      const startedAt = performance.now();
      const units = await pieces[name]();
      const rate = (units * 1000) / (performance.now() - startedAt);
      if (round >= 0) rates[name].push(rate);
      await settle?.();
    }
  }
  return rates;
}

/** @throws Error when the process was started without `--expose-gc`. */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error("this process needs --expose-gc");
  globalThis.gc();
}

/** Time for one unit, in nanoseconds, of rates per second. */
export function nanosecondsEach(rates: readonly number[]): readonly number[] {
  return rates.map((rate) => 1e9 / rate);
}

let sink: unknown;

/** Uses a value, so that the compiler cannot leave out the work that made it. */
export function keep(value: unknown): void {
  sink = value;
}

export function kept(): unknown {
  return sink;
}
