export { instrumentChildProcess } from "./instrumentation/child-process.ts";
export type {
  Instrumentation,
  InstrumentationOptions,
  InstrumentationTarget,
} from "./instrumentation/instrumentation.ts";
export { describeCommand, ObservedProcess, type ProcessEnding } from "./instrumentation/observed-process.ts";
export { instrumentWorkerThreads } from "./instrumentation/worker-threads.ts";
