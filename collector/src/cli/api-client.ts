import type { ChildrenPage, ChildView, SummaryView } from "@agent-lifecycle/proto";
import { CommandError, messageOf } from "./command-error.ts";

export const DEFAULT_API_URL = "http://127.0.0.1:8787";

const REQUEST_TIMEOUT_MS = 5_000;
const PAGE_SIZE = 500;

export interface ApiClientOptions {
  readonly url: string;
  /** Bearer token of the read scope. */
  readonly token?: string;
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
  const summary = await get<SummaryView>(options, "/api/v1/summary");
  const children: ChildView[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(PAGE_SIZE, maxChildren - children.length);
    const query = new URLSearchParams({ limit: String(limit), ...(cursor === null ? undefined : { cursor }) });
    const page: ChildrenPage = await get<ChildrenPage>(options, `/api/v1/children?${query}`);
    children.push(...page.children);
    cursor = page.nextCursor;
  } while (cursor !== null && children.length < maxChildren);
  return { summary, children, isCut: cursor !== null };
}

async function get<Body>({ url, token }: ApiClientOptions, path: string): Promise<Body> {
  if (!URL.canParse(path, url)) throw new CommandError(`--url must be an address such as ${DEFAULT_API_URL}, not ${url}`);
  const target = new URL(path, url);
  let response: Response;
  try {
    response = await fetch(target, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
    throw new CommandError(`no collector answers at ${url} (${reason}); start one with: agent-lifecycle collector`, {
      cause: error,
    });
  }
  if (!response.ok) throw new CommandError(`${target.href} answered ${response.status} ${response.statusText}`);
  return (await response.json()) as Body;
}
