import type { ChildrenPage, ChildView, SummaryView } from "@agent-lifecycle/proto";
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

/**
 * Reads the summary and the newest children.
 * @throws CommandError when the collector cannot be reached or refuses.
 */
export async function fetchOverview(options: ApiClientOptions, maxChildren: number): Promise<Overview> {
  for (let attempts = 1; ; attempts += 1) {
    const { position, ...listed } = await fetchChildren(options, maxChildren);
    const summary = await get<SummaryView>(options, "/api/v1/summary");
    // Counts must be those of the rows above them; on a busy collector the two cannot be had at one time.
    if (summary.position === position || attempts === MAX_ATTEMPTS) return { summary, ...listed };
  }
}

interface ListedChildren extends Omit<Overview, "summary"> {
  readonly position: number;
}

async function fetchChildren(options: ApiClientOptions, maxChildren: number): Promise<ListedChildren> {
  const children: ChildView[] = [];
  let cursor: string | null = null;
  let position = 0;
  do {
    const limit = Math.min(PAGE_SIZE, maxChildren - children.length);
    const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? undefined : { cursor }) });
    const page: ChildrenPage = await get<ChildrenPage>(options, `/api/v1/children?${query}`);
    children.push(...page.children);
    cursor = page.nextCursor;
    position = page.position;
  } while (cursor !== null && children.length < maxChildren);
  return { children, isCut: cursor !== null, position };
}

async function get<Body>({ url, readToken }: ApiClientOptions, path: string): Promise<Body> {
  if (!URL.canParse(path, url))
    throw new CommandError(`--url must be an address such as ${DEFAULT_API_URL}, not ${url}`);
  const target = new URL(path, url);
  let response: Response;
  try {
    response = await fetch(target, {
      headers: readToken === undefined ? {} : { authorization: `Bearer ${readToken}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
    throw new CommandError(`no collector answers at ${url} (${reason}); start one with: agent-lifecycle collector`, {
      cause: error,
    });
  }
  if (response.status === 401) {
    throw new CommandError(`the collector at ${url} asks for a token: --read-token, or AGENT_LIFECYCLE_READ_TOKEN`);
  }
  if (response.status === 404) {
    throw new CommandError(`${url} is not the collector's API; that is usually ${DEFAULT_API_URL}`);
  }
  if (!response.ok) throw new CommandError(`${target.href} answered ${response.status} ${response.statusText}`);
  return (await response.json()) as Body;
}
