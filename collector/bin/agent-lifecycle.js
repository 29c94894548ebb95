#!/usr/bin/env node
// Kept to syntax that any Node.js with modules can read, so that a version that is too old gets a sentence.
const REQUIRED_MAJOR = 24;

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  process.stderr.write(`agent-lifecycle needs Node.js ${REQUIRED_MAJOR} or newer; this is ${process.versions.node}\n`);
  process.exit(2);
}

const { runCommandLine } = await import("../dist/cli/main.js");
await runCommandLine(process.argv);
