import type { FastifyRequest } from "fastify";
import type { ByteBudget } from "../http/byte-budget.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import { parseJsonBody } from "../http/json-body.ts";
import { mediaTypeOf } from "../http/media-type.ts";
import { readBody } from "../http/request-body.ts";

const MAX_BODY_BYTES = 16 * 1024;
const LIMITS = { maxWireBytes: MAX_BODY_BYTES, maxDecodedBytes: MAX_BODY_BYTES };

/**
 * The members of a JSON object in the body; an empty body has none.
 * @throws HttpRefusal `unsupported_media` for any other type than JSON: a form of another site's page could send those.
 */
export async function readAdminBody(
  request: Pick<FastifyRequest, "headers" | "raw">,
  budget: ByteBudget,
): Promise<ReadonlyMap<string, unknown>> {
  if (mediaTypeOf(request.headers["content-type"]) !== "application/json") {
    throw new HttpRefusal("unsupported_media", "an action comes as application/json");
  }
  const lease = budget.open();
  try {
    const body = await readBody(request.raw, LIMITS, lease);
    if (body.length === 0) return new Map();
    const parsed = parseJsonBody(body);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return new Map(Object.entries(parsed));
    throw new HttpRefusal("malformed", "the body must be a JSON object");
  } finally {
    lease.release();
  }
}

export function noMembers(members: ReadonlyMap<string, unknown>): void {
  if (members.size > 0) throw new HttpRefusal("malformed", "this action takes no members");
}

export function onlyMember(members: ReadonlyMap<string, unknown>, name: string): unknown {
  if (members.size === 1 && members.has(name)) return members.get(name);
  throw new HttpRefusal("malformed", `this action takes one member: ${name}`);
}
