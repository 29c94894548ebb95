// A program that ends. Usage: exiting-host.js none | sdk. It says when its own work was done, on the wall clock.
const lifecycle =
  process.argv[2] === "none"
    ? undefined
    : (await import("@agent-lifecycle/sdk")).createLifecycle({ source: "bench", heartbeatIntervalMs: 0 });
const child = lifecycle?.child();
child?.starting();
child?.running();
for (let index = 0; index < 100; index += 1) child?.activity("works");
child?.completed();
process.stdout.write(`${performance.timeOrigin + performance.now()}\n`);

export {};
