import { StoreUnavailableError } from "@agent-lifecycle/collector";
import type { Store } from "@agent-lifecycle/collector/parts";

/** Where a store breaks. `append` and `commit` break inside an open transaction. */
export const STORE_FAULTS = ["begin", "append", "commit"] as const;

export type StoreFault = (typeof STORE_FAULTS)[number];

type Method = (...operands: readonly unknown[]) => unknown;

/** A real store with faults that a test turns on and off. Everything else goes through to it. */
export class FaultyStore {
  readonly store: Store;
  /** Names of the store's methods in the order of their calls. */
  readonly calls: string[] = [];
  readonly #next: (StoreFault | "none")[] = [];
  #broken: StoreFault | undefined;
  #poisonedChildId: string | undefined;
  #fault: StoreFault | "none" = "none";

  constructor(real: Store) {
    this.store = new Proxy(real, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function" || typeof name !== "string") return member;
        const method = member as Method;
        return (...operands: readonly unknown[]): unknown => {
          this.calls.push(name);
          this.#meet(name, operands);
          return method.apply(target, [...operands]);
        };
      },
    });
  }

  /** The next transactions fail as named, one after the other; those after them work. */
  failsThenWorks(...faults: readonly (StoreFault | "none")[]): void {
    this.#next.push(...faults);
  }

  /** Every transaction fails until `repair`. */
  breakDown(fault: StoreFault = "commit"): void {
    this.#broken = fault;
  }

  repair(): void {
    this.#broken = undefined;
  }

  /** Storing an event of this child is a mistake of the program, not of the store. */
  poison(childId: string): void {
    this.#poisonedChildId = childId;
  }

  #meet(name: string, operands: readonly unknown[]): void {
    if (name === "begin") this.#fault = this.#broken ?? this.#next.shift() ?? "none";
    if (name === this.#fault) throw new StoreUnavailableError(`the disk failed at ${name}`, true);
    if (
      name === "append" &&
      this.#poisonedChildId !== undefined &&
      JSON.stringify(operands).includes(this.#poisonedChildId)
    ) {
      throw new TypeError("cannot read properties of undefined");
    }
  }
}
