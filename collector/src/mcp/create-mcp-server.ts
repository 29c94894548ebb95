import { type ChildView, STATES, type SummaryView, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { ApiError } from "../client/api-error.ts";
import type { LifecycleClient } from "../client/lifecycle-client.ts";
import { doingWords, durationWords, equationWords } from "../display/child-words.ts";
import { type Evidence, explain } from "../display/explanation.ts";
import { waitForChange } from "./wait-for-change.ts";

const INSTRUCTIONS = `Reads what delegated child agents are doing, from the evidence that was reported. States are literal:
created, starting, running, waiting, completed, failed, cancelled, lost. "stale" is a mark on a child that was silent for too
long, not a state; "lost" means that it cannot be accounted for. Repeat states and ages as they are; do not conclude more.`;

const CHILD = {
  source: z.string().min(1).max(256).describe("The source that reports the child"),
  childId: z.string().min(1).max(256),
};
const MAX_LISTED = 200;
const MAX_INPUTS = 200;
const LONGEST_WAIT_S = 300;
const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const;

/** A server of the Model Context Protocol over a collector's API. It reads, and changes nothing. */
export function createMcpServer(client: LifecycleClient, version: string): McpServer {
  const server = new McpServer({ name: "agent-lifecycle", version }, { instructions: INSTRUCTIONS });
  server.registerTool(
    "list_children",
    {
      title: "List child agents",
      description:
        "The current lifecycle of all child agents: counts that add up, and each child's literal state and freshness.",
      inputSchema: {
        states: z.array(z.enum(STATES)).optional().describe("Only children in these states"),
        source: CHILD.source.optional(),
        rootChildId: z.string().optional().describe("Only members of the tree of this root"),
        stale: z.boolean().optional(),
        text: z.string().max(200).optional().describe("Part of an id, name, agent type, tool or activity"),
        limit: z.number().int().min(1).max(MAX_LISTED).default(50),
        cursor: z.string().optional().describe("nextCursor of the answer before"),
      },
      annotations: READ_ONLY,
    },
    (query) => answer(async () => listing(await client.summary(), await client.listChildren(withoutAbsent(query)))),
  );
  server.registerTool(
    "read_child",
    {
      title: "Read one child agent with its evidence",
      description:
        "One child's whole record, what was stored about it with what became of each report, and its corrections.",
      inputSchema: CHILD,
      annotations: READ_ONLY,
    },
    (child) => answer(async () => ({ text: [], structured: await evidenceOf(client, child) })),
  );
  server.registerTool(
    "explain_state",
    {
      title: "Explain why a child agent is in its state",
      description: "Why a child is in its state, in sentences that follow from its record alone.",
      inputSchema: CHILD,
      annotations: READ_ONLY,
    },
    (child) =>
      answer(async () => {
        const evidence = await evidenceOf(client, child);
        const { at } = await client.summary();
        const sentences = explain(evidence, Date.parse(at), (timestamp) => timestamp);
        return { text: sentences, structured: { state: evidence.child.state, asOf: at, explanation: sentences } };
      }),
  );
  server.registerTool(
    "wait_for_change",
    {
      title: "Wait for a change of child agents",
      description:
        "Waits until a child changes, and answers with the children that did. Pass the position of an answer before to miss nothing.",
      inputSchema: {
        source: CHILD.source.optional().describe("With childId: only this child"),
        childId: CHILD.childId.optional(),
        after: z.number().int().min(0).optional().describe("position of an answer before"),
        timeoutSeconds: z.number().min(1).max(LONGEST_WAIT_S).default(30),
      },
      annotations: READ_ONLY,
    },
    ({ source, childId, after, timeoutSeconds }, { signal }) =>
      answer(async () => {
        const waited = await waitForChange(client, {
          signal,
          timeoutMs: timeoutSeconds * 1_000,
          ...(after === undefined ? undefined : { after }),
          ...(source === undefined || childId === undefined ? undefined : { child: { source, childId } }),
        });
        const { at } = await client.summary();
        return { text: waited.changed.map((child) => childLine(child, Date.parse(at))), structured: { ...waited } };
      }),
  );
  return server;
}

interface Answer {
  /** For people and models; without any line, the structure is written out. */
  readonly text: readonly string[];
  readonly structured: object;
}

async function answer(read: () => Promise<Answer>): Promise<CallToolResult> {
  try {
    const { text, structured } = await read();
    const written = text.length === 0 ? JSON.stringify(structured) : text.join("\n");
    return { content: [{ type: "text", text: written }], structuredContent: { ...structured } };
  } catch (error) {
    const words = error instanceof ApiError ? error.message : `no answer from the collector: ${wordsOf(error)}`;
    return { isError: true, content: [{ type: "text", text: words }] };
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function listing(summary: SummaryView, page: Awaited<ReturnType<LifecycleClient["listChildren"]>>): Answer {
  if (!summary.evidenceSeen) return { text: [VISIBILITY_UNAVAILABLE], structured: { summary, ...page } };
  const now = Date.parse(summary.at);
  const more = page.nextCursor === null ? [] : [`more: cursor ${page.nextCursor}`];
  const lines = page.children.map((child) => childLine(child, now));
  return { text: [equationWords(summary), ...lines, ...more], structured: { summary, ...page } };
}

function childLine(child: ChildView, now: number): string {
  const { facts, childId, source, state } = child;
  const marks = [...(child.stale === null ? [] : ["stale"]), ...(child.provisional ? ["provisional"] : [])];
  const heard = durationWords(now - Date.parse(child.lastEvidenceAt));
  const progress = durationWords(now - Date.parse(child.lastProgressAt));
  const name = facts.name === undefined ? "" : `${facts.name}, `;
  const doing = doingWords(child);
  return `${childId} (${name}source ${source}): ${[state ?? "state unknown", ...marks].join(", ")}; heard of ${heard} ago, progress ${progress} ago${doing === "" ? "" : `; ${doing}`}`;
}

async function evidenceOf(
  client: LifecycleClient,
  child: { readonly source: string; readonly childId: string },
): Promise<Evidence> {
  const [record, { inputs }, { audit }] = await Promise.all([
    client.getChild(child),
    client.listChildEvents(child, { limit: MAX_INPUTS }),
    client.listChildAudit(child, { limit: MAX_INPUTS }),
  ]);
  return { child: record, inputs, audit };
}

/** Members that are absent must not be there: the client's types are exact. */
function withoutAbsent<Value extends object>(
  value: Value,
): { [Member in keyof Value]-?: Exclude<Value[Member], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}
