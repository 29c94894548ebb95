import type {
  AuditPage,
  ChildrenPage,
  ChildView,
  DiagnosticsPage,
  InputsPage,
  SourcesView,
  State,
  SummaryView,
} from "@agent-lifecycle/proto";
import type { TimelinePage } from "../display/timeline-view.ts";
import type { TreeView } from "../display/tree-view.ts";
import { apiErrorOf } from "./api-error.ts";
import { createEventParser } from "./event-parser.ts";

const DEFAULT_TIMEOUT_MS = 15_000;

export interface ClientOptions {
  /** Address of the collector's API: `http://127.0.0.1:8787`. In a page of the collector itself: its origin. */
  readonly url: string;
  /** Bearer token of the scope read; asked for at each request. */
  readonly token?: string | (() => string | undefined);
  /** Time for an answer to begin. Milliseconds; default 15,000. */
  readonly timeoutMs?: number;
  /** Silence after which a stream counts as broken; the collector gives a sign of life every 15 s. Milliseconds; default 40,000. */
  readonly streamSilenceMs?: number;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

export interface PageQuery {
  /** Entries of the page, 1 to 1,000 (timeline: 100). Default 100 (timeline: 50). */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

export interface ChildrenQuery extends PageQuery {
  readonly states?: readonly State[];
  readonly source?: string;
  readonly rootChildId?: string;
  readonly stale?: boolean;
  readonly provisional?: boolean;
  /** Part of the child id, name, agent type, tool or activity. */
  readonly text?: string;
}

/** What `changes` yields. `position` is that of the last event that says so: everything up to it was sent. */
export interface ChangeBatch {
  /** In the order of their changes; a child may occur more than once. */
  readonly children: readonly ChildView[];
  readonly summary: SummaryView | undefined;
  readonly position: number | undefined;
  /** Changes were missed: the children are to be listed again. */
  readonly resync: boolean;
}

/** A name of a child in a request. */
export type ChildName = Pick<ChildView, "source" | "childId">;

/**
 * Reads a collector: every route of its API, typed. Runs in browsers and in Node.js, and depends on nothing.
 * Every method rejects with `ApiError` when the collector refuses, and with what `fetch` rejects with when none answers.
 */
export class LifecycleClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  summary(): Promise<SummaryView> {
    return this.#get("summary", {});
  }

  listChildren({ states, rootChildId, ...query }: ChildrenQuery = {}): Promise<ChildrenPage> {
    return this.#get("children", { ...query, state: states?.join(","), root: rootChildId });
  }

  /** Every child that matches, page by page: each once, also while new ones come. */
  async *allChildren(query: ChildrenQuery = {}): AsyncGenerator<ChildrenPage, void, undefined> {
    let cursor = query.cursor;
    do {
      const page: ChildrenPage = await this.listChildren({ limit: 1_000, ...query, ...(cursor && { cursor }) });
      yield page;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  getChild(child: ChildName): Promise<ChildView> {
    return this.#get(pathOf(child), {});
  }

  /** What was stored about a child, each with what became of it. */
  listChildEvents(child: ChildName, query: PageQuery = {}): Promise<InputsPage> {
    return this.#get(`${pathOf(child)}/events`, { ...query });
  }

  listChildAudit(child: ChildName, query: PageQuery = {}): Promise<AuditPage> {
    return this.#get(`${pathOf(child)}/audit`, { ...query });
  }

  tree(rootChildId: string, query: { readonly source?: string } = {}): Promise<TreeView> {
    return this.#get(`tree/${segment(rootChildId)}`, { ...query });
  }

  timeline({ states, rootChildId, ...query }: ChildrenQuery = {}): Promise<TimelinePage> {
    return this.#get("timeline", { ...query, state: states?.join(","), root: rootChildId });
  }

  sources(): Promise<SourcesView> {
    return this.#get("sources", {});
  }

  listAudit(query: PageQuery = {}): Promise<AuditPage> {
    return this.#get("audit", { ...query });
  }

  listDiagnostics(query: PageQuery & { readonly code?: string } = {}): Promise<DiagnosticsPage> {
    return this.#get("diagnostics", { ...query });
  }

  /**
   * Asks for a child to be cancelled, where its source can. Takes a token with the scope admin. That it was asked for changes
   * no state: evidence does (D5).
   * @param options `token` for this request alone; default: the one of the client
   */
  async requestCancel({ source, childId }: ChildName, options: { readonly token?: string } = {}): Promise<void> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const body = JSON.stringify({ source, childId });
    await this.#request("/api/v1/admin/children/cancel", signal, { body, ...options });
  }

  /** The OpenAPI document of this collector. */
  openApi(): Promise<Readonly<Record<string, unknown>>> {
    return this.#json("/api/openapi.json");
  }

  /**
   * Changes as they are stored, as many at once as arrive together. Begins with an empty batch when the collector answers;
   * ends when the stream does, and throws when it breaks.
   * @param after `position` of what is known already: of a listing, or of the last batch that had one
   */
  async *changes(after: number, signal?: AbortSignal): AsyncGenerator<ChangeBatch, void, undefined> {
    const broken = new AbortController();
    const stop = (): void => broken.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted === true) stop();
    const { streamSilenceMs = 40_000 } = this.#options;
    const silent = (): void => broken.abort(new Error("nothing was heard on the stream"));
    let silence = setTimeout(silent, streamSilenceMs);
    try {
      const response = await this.#request(`/api/v1/stream?after=${after}`, broken.signal);
      yield { children: [], summary: undefined, position: undefined, resync: false };
      const parse = createEventParser();
      const decoder = new TextDecoder();
      const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(silent, streamSilenceMs);
        yield batchOf(parse(decoder.decode(value, { stream: true })));
      }
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener("abort", stop);
      broken.abort();
    }
  }

  #get<Body>(path: string, query: Readonly<Record<string, unknown>>): Promise<Body> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") parameters.set(name, String(value));
    }
    const suffix = parameters.size === 0 ? "" : `?${parameters}`;
    return this.#json(`/api/v1/${path}${suffix}`);
  }

  async #json<Body>(path: string): Promise<Body> {
    const response = await this.#request(path, AbortSignal.timeout(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS));
    return (await response.json()) as Body;
  }

  /** @param posted what makes it a POST of JSON, with a token of its own if it has one */
  async #request(
    path: string,
    signal: AbortSignal,
    { body, token: own }: { readonly body?: string; readonly token?: string } = {},
  ): Promise<Response> {
    const { url, token, fetch: send = fetch } = this.#options;
    const shown = own ?? (typeof token === "function" ? token() : token);
    const headers: Record<string, string> = shown === undefined ? {} : { authorization: `Bearer ${shown}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const posted = body === undefined ? undefined : { method: "POST", body };
    const response = await send(new URL(path, url), { headers, signal, cache: "no-store", ...posted });
    if (!response.ok) throw await apiErrorOf(response);
    return response;
  }
}

function batchOf(events: ReturnType<ReturnType<typeof createEventParser>>): ChangeBatch {
  const children: ChildView[] = [];
  let summary: SummaryView | undefined;
  let position: number | undefined;
  let resync = false;
  for (const { name, data, id } of events) {
    if (id !== undefined) position = Number(id);
    if (name === "child") children.push(JSON.parse(data) as ChildView);
    else if (name === "summary") summary = JSON.parse(data) as SummaryView;
    else if (name === "resync") resync = true;
  }
  return { children, summary, position, resync };
}

function pathOf({ source, childId }: ChildName): string {
  return `children/${segment(source)}/${segment(childId)}`;
}

/** A name that is `.` or `..` cannot be written in a URL: however it is encoded, URLs take it for a step in the path. */
function segment(text: string): string {
  return encodeURIComponent(text);
}
