import { formatTimestamp } from "@agent-lifecycle/proto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ByteBudget } from "../http/byte-budget.ts";
import { HttpRefusal } from "../http/http-refusal.ts";
import { principalOf, requireScope } from "../http/require-scope.ts";
import { refuseOtherSites } from "../http/same-origin.ts";
import type { AdminActions } from "../runtime/admin-actions.ts";
import type { AdminAudit, StoredAdminAction } from "../runtime/admin-audit.ts";
import type { AccessControl } from "../security/access-control.ts";
import { noMembers, onlyMember, readAdminBody } from "./admin-body.ts";
import { type AdminAnswer, AdminRunner, adminRequest } from "./admin-runner.ts";
import { cursorNumber, cutPage, PAGING_PARAMETERS, type PagingQuery } from "./paging.ts";

export interface AdminRoutesOptions {
  readonly actions: AdminActions;
  readonly audit: AdminAudit;
  readonly access: AccessControl;
  readonly onError: (error: unknown) => void;
}

/** One entry of the audit, as it is shown. */
export type AdminActionView = Omit<StoredAdminAction, "at"> & {
  /** RFC 3339, UTC. */
  readonly at: string;
};

export interface AdminActionsPage {
  /** Newest first. */
  readonly actions: readonly AdminActionView[];
  /** Pass as `cursor` for the next page; `null` at the end. */
  readonly nextCursor: string | null;
}

const ACTIONS_QUERY = { type: "object", additionalProperties: false, properties: PAGING_PARAMETERS };
/** A plain name: it reaches a file system. */
const BACKUP_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$/;
const MAX_IDENTIFIER_LENGTH = 256;
const MAX_BODIES_BYTES = 1024 * 1024;

/**
 * The admin API. Needs the scope admin, which is never open. What changes something is a POST of `application/json`: a
 * page of another site can send neither. Every action is written down before it runs, attempts of others too.
 */
export async function registerAdminRoutes(scope: FastifyInstance, options: AdminRoutesOptions): Promise<void> {
  const { actions, audit, access, onError } = options;
  const runner = new AdminRunner(audit, onError);
  const budget = new ByteBudget(MAX_BODIES_BYTES);
  const refused = (request: FastifyRequest, principal: string | undefined): void => {
    try {
      audit.refuse(adminRequest(request, principal ?? "unknown", actionOf(request)));
    } catch (error) {
      // They are refused all the same.
      onError(error);
    }
  };
  scope.addHook("onRequest", requireScope(access, "admin", refused));
  scope.addHook(
    "onRequest",
    refuseOtherSites((request) => refused(request, principalOf(request).name)),
  );
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("cache-control", "no-store");
    done();
  });
  scope.post("/reload", async (request): Promise<AdminAnswer> => {
    noMembers(await readAdminBody(request, budget));
    return runner.run(request, "reload", "", () => actions.reload());
  });
  scope.post("/backup", async (request): Promise<AdminAnswer> => {
    const name = backupName(onlyMember(await readAdminBody(request, budget), "name"));
    return runner.run(request, "backup", name, () => actions.backup(name));
  });
  scope.post("/retention/run", async (request): Promise<AdminAnswer> => {
    noMembers(await readAdminBody(request, budget));
    return runner.run(request, "retention", "", () => actions.runRetention());
  });
  scope.post("/children/cancel", async (request): Promise<AdminAnswer> => {
    const { source, childId } = childNamed(await readAdminBody(request, budget));
    const { name, sources } = principalOf(request);
    if (sources?.has(source) === false) {
      refused(request, name);
      throw new HttpRefusal("forbidden", "the token may not speak for this source");
    }
    return runner.runBeside(request, "cancel", `${source} ${childId}`, () => actions.cancel(source, childId));
  });
  scope.get<{ Querystring: PagingQuery }>(
    "/actions",
    { schema: { querystring: ACTIONS_QUERY } },
    (request): AdminActionsPage => actionsPage(audit, request.query),
  );
  scope.all("/*", () => {
    throw new HttpRefusal("not_found", "the admin API has no such action");
  });
}

/** The route's own name, never the path as it was sent. */
function actionOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url?.replace("/api/v1/admin/", "") ?? "*";
}

function backupName(stated: unknown): string {
  if (typeof stated === "string" && BACKUP_NAME.test(stated)) return stated;
  throw new HttpRefusal("malformed", "name must be a plain file name: up to 128 letters, digits, dots, _ and -");
}

/** Identifiers, as the contract bounds them (section 2). */
function childNamed(members: ReadonlyMap<string, unknown>): { readonly source: string; readonly childId: string } {
  const [source, childId] = [members.get("source"), members.get("childId")];
  if (members.size === 2 && isIdentifier(source) && isIdentifier(childId)) return { source, childId };
  throw new HttpRefusal("malformed", "this action takes two members, texts of 1 to 256 characters: source and childId");
}

function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= MAX_IDENTIFIER_LENGTH;
}

function actionsPage(audit: AdminAudit, query: PagingQuery): AdminActionsPage {
  const beforeId = cursorNumber(query);
  const found = audit.list({ limit: query.limit + 1, ...(beforeId === undefined ? undefined : { beforeId }) });
  const { entries, nextCursor } = cutPage(found, query.limit, ({ id }) => id);
  return { actions: entries.map((action) => ({ ...action, at: formatTimestamp(action.at) })), nextCursor };
}
