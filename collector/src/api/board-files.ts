import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";

/** Beside `src` and `dist`, which lie equally deep. */
const BOARD_FOLDER = new URL("../../board/", import.meta.url);

const FILES = [
  { url: "/", name: "index.html", contentType: "text/html; charset=utf-8" },
  { url: "/board.js", name: "board.js", contentType: "text/javascript; charset=utf-8" },
  { url: "/board-rows.js", name: "board-rows.js", contentType: "text/javascript; charset=utf-8" },
  { url: "/board-stream.js", name: "board-stream.js", contentType: "text/javascript; charset=utf-8" },
  { url: "/board-words.js", name: "board-words.js", contentType: "text/javascript; charset=utf-8" },
  { url: "/board.css", name: "board.css", contentType: "text/css; charset=utf-8" },
  { url: "/board.svg", name: "board.svg", contentType: "image/svg+xml" },
] as const;

/** The board: a few files that hold no data. Nothing else of the file system is ever served. */
export async function registerBoardFiles(scope: FastifyInstance): Promise<void> {
  for (const { url, name, contentType } of FILES) {
    const content = await readFile(new URL(name, BOARD_FOLDER));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    scope.get(url, (request, reply) => {
      reply.headers({ "content-type": contentType, "cache-control": "no-cache", etag });
      return request.headers["if-none-match"] === etag ? reply.code(304).send() : reply.send(content);
    });
  }
}
