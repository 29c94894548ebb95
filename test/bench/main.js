// A tiny entry, so that a Node.js that is too old gets a sentence and not a syntax error.
const REQUIRED_MAJOR = 24;

if (Number(process.versions.node.split(".")[0]) < REQUIRED_MAJOR) {
  process.stderr.write(`the benchmark needs Node.js ${REQUIRED_MAJOR} or newer; this is ${process.versions.node}\n`);
  process.exit(2);
}

const { runBenchmark } = await import("../dist/bench/run-benchmark.js");
process.exitCode = await runBenchmark(process.argv.slice(2));
