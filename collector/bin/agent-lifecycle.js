#!/usr/bin/env node
// Kept to syntax that any Node.js with modules can read, so that a version that is too old gets a sentence.
const REQUIRED_MAJOR = 24;
const HOOKS = ["claude-code", "codex"];

if (process.argv.length === 4 && process.argv[2] === "hook" && HOOKS.includes(process.argv[3])) {
  // A hook holds up whoever calls it: of the whole program, it loads only itself. It has no exit code that objects.
  const { runHookShim } = await import("@agent-lifecycle/sdk/hook");
  runHookShim(process.argv[3]);
} else if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  process.stderr.write(`agent-lifecycle needs Node.js ${REQUIRED_MAJOR} or newer; this is ${process.versions.node}\n`);
  process.exit(2);
} else {
  const { runCommandLine } = await import("../dist/cli/main.js");
  await runCommandLine(process.argv);
}
