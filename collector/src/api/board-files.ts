import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";

/** What `npm run build` makes of `board/`. Beside `src` and inside `dist`, which lie equally deep. */
const BOARD_FOLDER = new URL("../../dist/board/", import.meta.url);

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/**
 * The board: a few files that hold no data, read once. Nothing else of the file system is ever served.
 * @throws Error when the board was not built.
 */
export async function registerBoardFiles(scope: FastifyInstance): Promise<void> {
  for (const name of await builtFiles()) {
    const contentType = CONTENT_TYPES[name.split(".").at(-1) ?? ""];
    if (contentType === undefined) continue;
    const content = await readFile(new URL(name, BOARD_FOLDER));
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
    // The names of assets change with what is in them.
    const caching = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    scope.get(name === "index.html" ? "/" : `/${name}`, (request, reply) => {
      reply.headers({ "content-type": contentType, "cache-control": caching, etag });
      return request.headers["if-none-match"] === etag ? reply.code(304).send() : reply.send(content);
    });
  }
}

async function builtFiles(): Promise<readonly string[]> {
  try {
    const entries = await readdir(BOARD_FOLDER, { recursive: true, withFileTypes: true });
    const folder = BOARD_FOLDER.pathname;
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`.replaceAll(/[\\/]+/g, "/").slice(folder.length))
      .toSorted();
  } catch (error) {
    throw new Error("the board is not built: npm run build", { cause: error });
  }
}
