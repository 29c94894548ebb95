// A desktop-like host that shows the board inside its own page: it serves the page and the two modules of the collector's
// package, and passes /api/ on to the collector, so that the page talks to one origin. Run: node examples/embed/host.js
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    collector: { type: "string", default: "http://127.0.0.1:8787" },
    port: { type: "string", default: "8080" },
  },
});
const collector = new URL(values.collector);
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const packaged = (name) => fileURLToPath(import.meta.resolve(`@agent-lifecycle/collector/${name}`));
const clientFolder = new URL(".", import.meta.resolve("@agent-lifecycle/collector/client"));

const FILES = new Map([
  ["/", [beside("index.html"), "text/html; charset=utf-8"]],
  ["/host.css", [beside("host.css"), "text/css; charset=utf-8"]],
  ["/host-page.js", [beside("host-page.js"), "text/javascript; charset=utf-8"]],
  ["/agent-lifecycle-board.js", [packaged("board-element"), "text/javascript; charset=utf-8"]],
  ["/client.js", [packaged("client"), "text/javascript; charset=utf-8"]],
]);

const server = createServer((incoming, outgoing) => {
  if (incoming.url?.startsWith("/api/")) passOn(incoming, outgoing);
  else serveFile(new URL(incoming.url ?? "/", "http://host").pathname, outgoing).catch(() => outgoing.destroy());
});
server.listen(Number(values.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});

/** The client is a few modules beside each other, without a bundler. */
async function serveFile(path, outgoing) {
  const isModule = /^\/(client|display)\/[a-z-]+\.js$/.test(path);
  const found =
    FILES.get(path) ?? (isModule ? [fileURLToPath(new URL(`.${path}`, clientFolder)), "text/javascript"] : undefined);
  if (found === undefined) {
    outgoing.writeHead(404).end();
    return;
  }
  const content = await readFile(found[0]);
  outgoing.writeHead(200, { "content-type": found[1], "cache-control": "no-cache" }).end(content);
}

function passOn(incoming, outgoing) {
  const { accept = "*/*", authorization } = incoming.headers;
  const headers = { accept, host: collector.host, ...(authorization === undefined ? {} : { authorization }) };
  const passed = request(new URL(incoming.url, collector), { method: "GET", headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  passed.on("error", () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
  outgoing.on("close", () => passed.destroy());
  passed.end();
}
