import { runFuzz } from "./run-fuzz.ts";

process.exitCode = runFuzz(process.argv.slice(2));
