import { type ChildView, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";
import { childKey } from "../../display/child-key.ts";
import {
  adoptedWords,
  cancelWords,
  capabilityWords,
  doingWords,
  durationWords,
  endWords,
  lateWords,
  provisionalWords,
  staleWords,
} from "../../display/child-words.ts";
import { countsLine, printable, tableLines } from "../child-table.ts";
import { listedChildren, type WatchFacts, type WatchState } from "./watch-state.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

const REVERSED = "\u001b[7m";
const PLAIN = "\u001b[0m";
/** Lines above and below the list. */
const AROUND = 4;

/** Rows of children that fit. */
export function pageRows({ rows }: ScreenSize): number {
  return Math.max(1, rows - AROUND);
}

/** The whole screen, line by line: as many as it has rows, none wider than it is. */
export function drawScreen(facts: WatchFacts, state: WatchState, size: ScreenSize): readonly string[] {
  const { summary } = facts;
  const listed = listedChildren(facts, state);
  const body = bodyLines(facts, state, size, listed);
  const counts = summary === undefined ? "" : summary.evidenceSeen ? countsLine(summary) : "";
  const lines = [titleLine(facts), counts, ...body];
  while (lines.length < size.rows - 1) lines.push("");
  return [...lines.slice(0, size.rows - 1), helpLine(state, listed.length, facts.children.length)].map((line) =>
    cutLine(line, size.columns),
  );
}

function titleLine({ connection, now }: WatchFacts): string {
  const at = new Date(now).toISOString().slice(11, 19);
  switch (connection.kind) {
    case "connecting":
      return "agent-lifecycle  connecting…";
    case "live":
      return `agent-lifecycle  ● live  ${at} UTC`;
    case "interrupted":
      return `agent-lifecycle  ✘ connection lost; this is what was known at ${at} UTC: ${printable(connection.reason)}`;
    case "refused":
      return "agent-lifecycle  a token is needed: --read-token, or AGENT_LIFECYCLE_READ_TOKEN";
  }
}

function bodyLines(
  facts: WatchFacts,
  state: WatchState,
  size: ScreenSize,
  listed: readonly ChildView[],
): readonly string[] {
  if (facts.summary === undefined) return [];
  if (!facts.summary.evidenceSeen) return ["", VISIBILITY_UNAVAILABLE];
  const marked = listed.findIndex((child) => childKey(child) === state.marked);
  const child = listed[marked];
  if (state.isOpen && child !== undefined) return detailLines(child, facts.now);
  const [titles = "", ...rows] = tableLines(listed, { now: facts.now, colour: size.colour, width: size.columns });
  const page = pageRows(size);
  const first = Math.max(0, Math.min(marked - Math.floor(page / 2), rows.length - page));
  return [
    titles,
    ...rows
      .slice(first, first + page)
      .map((row, index) => (first + index === marked ? REVERSED + plainOf(row) + PLAIN : row)),
  ];
}

/** Everything about one child, in words. */
function detailLines(child: ChildView, now: number): readonly string[] {
  const clock = (timestamp: string): string => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
  const age = (timestamp: string): string => `${durationWords(now - Date.parse(timestamp))} ago (${clock(timestamp)})`;
  const { facts, lineage } = child;
  const facts_ = [
    ["state", `${child.state ?? "unknown"}${child.stateInferred ? ", implied by its source" : ""}`],
    ["since", child.stateAt === null ? "unknown" : age(child.stateAt)],
    ["alive", `heard of ${age(child.lastEvidenceAt)}`],
    ["progress", age(child.lastProgressAt)],
    ["doing", doingWords(child) || "activity unknown"],
    ["ended", endWords(child)],
    ["stale", staleWords(child, clock)],
    ["provisional", provisionalWords(child)],
    ["late", lateWords(child, clock)],
    ["cancel", cancelWords(child, clock)],
    ["adopted", adoptedWords(child, clock)],
    ["source", `${child.source}, epoch ${child.sourceEpoch}`],
    ["root", lineage.rootChildId],
    ["parent", lineage.parentChildId ?? "none stated"],
    ["attempt", String(lineage.attempt + 1)],
    ["history", child.history],
    ["transcript", facts.transcriptRef ?? ""],
    ["result", facts.resultRef ?? ""],
    ["", capabilityWords(child)],
  ].filter(([, words]) => words !== "");
  const title = facts.name === undefined ? child.childId : `${facts.name} (${child.childId})`;
  return [printable(title), ...facts_.map(([name = "", words = ""]) => `  ${name.padEnd(12)} ${printable(words)}`)];
}

function helpLine(state: WatchState, listed: number, known: number): string {
  if (state.isTyping) return `filter: ${printable(state.filter)}▏  (Enter keeps it, Esc clears it)`;
  if (state.isOpen) return "Esc back · q back · Ctrl-C quit";
  const filter = state.filter === "" ? "" : ` matching "${printable(state.filter)}"`;
  return `${listed} of ${known} ${state.scope}${filter} · ↑↓ move · Enter open · / filter · s all/attention/live/ended · q quit`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they colour the text
const COLOURS = /\u001b\[[0-9;]*m/g;

function plainOf(line: string): string {
  return line.replaceAll(COLOURS, "");
}

/** Cuts what is too wide; colours take no place. */
function cutLine(line: string, columns: number): string {
  if (plainOf(line).length <= columns) return line;
  let width = 0;
  let cut = "";
  for (let at = 0; at < line.length && width < columns - 1; ) {
    COLOURS.lastIndex = at;
    const colour = COLOURS.exec(line);
    if (colour?.index === at) {
      cut += colour[0];
      at += colour[0].length;
      continue;
    }
    cut += line[at];
    width += 1;
    at += 1;
  }
  return `${cut}…${line.includes("\u001b[") ? PLAIN : ""}`;
}
