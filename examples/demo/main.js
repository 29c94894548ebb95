// Kept to syntax that any Node.js with modules can read, so that a version that is too old gets a sentence.
const REQUIRED_MAJOR = 24;

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  process.stderr.write(`the demo needs Node.js ${REQUIRED_MAJOR} or newer; this is ${process.versions.node}\n`);
  process.exit(2);
}

const { runDemo } = await import("./demo.js");
process.exitCode = await runDemo({ keep: process.argv.includes("--keep") });
