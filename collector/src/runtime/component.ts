/**
 * A part of the collector that runs for a while. The contract:
 * - `start` resolves when the part is ready to work and rejects when it cannot; it is called at most once.
 * - `shutdown` is safe without `start`, safe twice, and safe while `start` still runs. It never rejects.
 * - What the part has taken in before `shutdown` is passed on before `shutdown` resolves; after that it passes on
 *   nothing, calls nobody, and keeps no timer, file or socket.
 *
 * The contract can be run: `componentContract` and `receiverContract` of `@agent-lifecycle/collector/testing`.
 */
export interface Component {
  start(): Promise<void>;
  shutdown(): Promise<void>;
}
