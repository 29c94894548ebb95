import type { AuditEntry, ChildChange } from "../core/index.ts";

/** What one stored input changed. Published after its commit, in the order of input ids. */
export interface ProjectionUpdate {
  readonly inputId: number;
  readonly changes: readonly ChildChange[];
  readonly audit: readonly AuditEntry[];
}

export type UpdateListener = (updates: readonly ProjectionUpdate[]) => void;

/** In-process fan-out of updates. Listeners must be quick and must not throw; slow work queues on their own side. */
export interface UpdateFeed {
  /** Returns the function that ends the subscription. */
  subscribe(listener: UpdateListener): () => void;
}

export interface UpdatePublisher extends UpdateFeed {
  publish(updates: readonly ProjectionUpdate[]): void;
}

export function createUpdateFeed(onListenerError: (error: unknown) => void): UpdatePublisher {
  const listeners = new Set<UpdateListener>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(updates) {
      for (const listener of listeners) {
        try {
          listener(updates);
        } catch (error) {
          onListenerError(error);
        }
      }
    },
  };
}
