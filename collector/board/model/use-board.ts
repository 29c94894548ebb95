import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Address, Look } from "./address.ts";
import type { BoardModel } from "./board-model.ts";

export interface Board {
  readonly model: BoardModel;
  readonly address: Address;
}

export const BoardContext = createContext<Board | undefined>(undefined);

export function useBoard(): Board {
  const board = useContext(BoardContext);
  if (board === undefined) throw new Error("not inside a board");
  return board;
}

/** The model, drawn anew by every frame that has news. */
export function useModel(): BoardModel {
  const { model } = useBoard();
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => model.subscribe(() => redraw(undefined)), [model]);
  return model;
}

export function useLook(): { readonly look: Look; readonly go: (part: Partial<Look>, replace?: boolean) => void } {
  const { address } = useBoard();
  const [look, setLook] = useState(address.current());
  useEffect(() => address.subscribe(() => setLook(address.current())), [address]);
  return { look, go: (part, replace) => address.go({ ...address.current(), ...part }, replace) };
}

export type Loaded<Value> =
  | { readonly kind: "loading" }
  | { readonly kind: "loaded"; readonly value: Value }
  /** What was loaded before, if anything was, is as old as the failure. */
  | { readonly kind: "failed"; readonly reason: string; readonly value: Value | undefined };

/**
 * Loads something, and again when `version` has changed, though not more often than every `restMs`.
 * @param key what it is about: with another one, what was loaded is forgotten
 */
export function useLoaded<Value>(
  key: string,
  version: unknown,
  load: () => Promise<Value>,
  restMs = 1_000,
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ kind: "loading" });
  const state = useRef({
    key: "",
    version: undefined as unknown,
    isBusy: false,
    again: false,
    value: undefined as Value | undefined,
  });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const current = state.current;
    if (current.key !== key) {
      state.current = { key, version: undefined, isBusy: false, again: false, value: undefined };
      setLoaded({ kind: "loading" });
    }
    const mine = state.current;
    const run = async (): Promise<void> => {
      mine.isBusy = true;
      mine.again = false;
      try {
        mine.value = await latest.current();
        if (state.current === mine) setLoaded({ kind: "loaded", value: mine.value });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (state.current === mine) setLoaded({ kind: "failed", reason, value: mine.value });
      }
      setTimeout(() => {
        mine.isBusy = false;
        if (mine.again && state.current === mine) void run();
      }, restMs);
    };
    if (mine.isBusy) mine.again = true;
    else void run();
  }, [key, version]);
  return loaded;
}
