import type { ChildView, SummaryView } from "@agent-lifecycle/proto";
import { ApiError } from "../client/api-error.ts";
import { type ChildrenQuery, LifecycleClient } from "../client/lifecycle-client.ts";
import { CommandError, messageOf } from "./command-error.ts";

export const DEFAULT_API_URL = "http://127.0.0.1:8787";

const REQUEST_TIMEOUT_MS = 5_000;
const PAGE_SIZE = 500;
const MAX_ATTEMPTS = 3;

export interface ApiClientOptions {
  readonly url: string;
  /** Bearer token of the read scope. */
  readonly readToken?: string;
}

export interface Overview {
  readonly summary: SummaryView;
  readonly children: readonly ChildView[];
  /** There are more children than were asked for. */
  readonly isCut: boolean;
}

/** @throws CommandError when the address is none. */
export function createApiClient({ url, readToken }: ApiClientOptions): LifecycleClient {
  if (!URL.canParse(url)) throw new CommandError(`--url must be an address such as ${DEFAULT_API_URL}, not ${url}`);
  return new LifecycleClient({
    url,
    timeoutMs: REQUEST_TIMEOUT_MS,
    ...(readToken === undefined ? undefined : { token: readToken }),
  });
}

/**
 * Reads the summary and the newest children.
 * @throws CommandError when the collector cannot be reached or refuses.
 */
export async function fetchOverview(
  options: ApiClientOptions,
  maxChildren: number,
  query: ChildrenQuery = {},
): Promise<Overview> {
  const client = createApiClient(options);
  try {
    for (let attempts = 1; ; attempts += 1) {
      const { position, ...listed } = await listNewest(client, maxChildren, query);
      const summary = await client.summary();
      // Counts must be those of the rows above them; on a busy collector the two cannot be had at one time.
      if (summary.position === position || attempts === MAX_ATTEMPTS) return { summary, ...listed };
    }
  } catch (error) {
    throw commandErrorOf(error, options);
  }
}

/** What went wrong, as a sentence for the person at the terminal. */
function commandErrorOf(error: unknown, { url }: ApiClientOptions): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof ApiError) {
    if (error.status === 401) {
      return new CommandError(`the collector at ${url} asks for a token: --read-token, or AGENT_LIFECYCLE_READ_TOKEN`);
    }
    if (error.status === 404) {
      return new CommandError(`${url} is not the collector's API; that is usually ${DEFAULT_API_URL}`);
    }
    return new CommandError(`the collector at ${url}: ${error.message}`, { cause: error });
  }
  const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
  return new CommandError(`no collector answers at ${url} (${reason}); start one with: agent-lifecycle collector`, {
    cause: error,
  });
}

interface ListedChildren extends Omit<Overview, "summary"> {
  readonly position: number;
}

async function listNewest(client: LifecycleClient, maxChildren: number, query: ChildrenQuery): Promise<ListedChildren> {
  const children: ChildView[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = Math.min(PAGE_SIZE, maxChildren - children.length);
    const page = await client.listChildren({ ...query, limit, ...(cursor === undefined ? undefined : { cursor }) });
    children.push(...page.children);
    cursor = page.nextCursor ?? undefined;
    const isCut = cursor !== undefined;
    if (!isCut || children.length >= maxChildren) return { children, isCut, position: page.position };
  }
}
