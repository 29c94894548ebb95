import { runFuzz } from "./run-fuzz.ts";

process.exitCode = await runFuzz(process.argv.slice(2));
