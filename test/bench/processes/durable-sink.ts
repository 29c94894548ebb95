import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * The baseline of ingest: the least that a durable HTTP receiver in Node.js can do. It reads each body whole, looks at
 * nothing in it, writes what has come in since the last flush to one file, flushes that to the disk (fsync), and only
 * then answers. The file is written over from its start when it is full, so that a long run does not fill the disk.
 */
const FILE_BYTES = 256 * 1024 * 1024;

interface Waiting {
  readonly body: Buffer;
  readonly response: ServerResponse;
}

const path = process.argv[2];
if (path === undefined) throw new Error("usage: durable-sink FILE");
const file = openSync(path, "w");
let position = 0;
let waiting: Waiting[] = [];

function flush(): void {
  const group = waiting;
  waiting = [];
  for (const { body } of group) {
    if (position + body.length > FILE_BYTES) position = 0;
    writeSync(file, body, 0, body.length, position);
    position += body.length;
  }
  fsyncSync(file);
  for (const { response } of group) response.end();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ body: Buffer.concat(chunks), response });
  });
});

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ingest: `http://127.0.0.1:${port}` })}\n`);
});

process.once("SIGTERM", () => {
  server.closeAllConnections();
  server.close(() => closeSync(file));
});
