import { AsyncLocalStorage } from "node:async_hooks";
import type { ChildReference } from "./carrier.ts";

/** Which child the running code works for. One for all lifecycles of a thread: lineage crosses them. */
const current = new AsyncLocalStorage<ChildReference>();

export function currentChild(): ChildReference | undefined {
  return current.getStore();
}

/** Runs the host's function for a child; what it returns or throws is the host's. */
export function runFor<Result>(child: ChildReference, run: () => Result): Result {
  return current.run(child, run);
}
