import { type ChildView, parseTimestamp, type SummaryView, VISIBILITY_UNAVAILABLE } from "@agent-lifecycle/proto";

/** Shapes beside the words, so that a state can be told without colour. */
const STATE_MARKS: Readonly<Record<string, string>> = {
  created: "·",
  starting: "◔",
  running: "▶",
  waiting: "‖",
  completed: "✔",
  failed: "✘",
  cancelled: "■",
  lost: "?",
};

const STATE_COLOURS: Readonly<Record<string, number>> = {
  created: 90,
  starting: 36,
  running: 34,
  waiting: 33,
  completed: 32,
  failed: 31,
  cancelled: 35,
  lost: 31,
};

const MAX_ID_WIDTH = 28;
const MAX_STATE_WIDTH = 34;

export interface TableOptions {
  /** The time that ages are counted from, milliseconds since the epoch. */
  readonly now: number;
  readonly colour: boolean;
  /** Columns of the terminal, to which long texts are cut; infinite where nothing is to be cut. */
  readonly width: number;
}

/** The children as a table, one row each, and the counts under it (D1, D2). Control characters of data are not printed. */
export function renderTable(summary: SummaryView, children: readonly ChildView[], options: TableOptions): string {
  if (!summary.evidenceSeen) return `${VISIBILITY_UNAVAILABLE}\n`;
  return `${[...tableLines(children, options), "", countsLine(summary)].join("\n")}\n`;
}

/** The table alone: a line of titles, then one for each child. */
export function tableLines(children: readonly ChildView[], options: TableOptions): readonly string[] {
  const rows = children.map((child) => rowOf(child, options.now));
  const widths = [
    Math.min(
      Number.isFinite(options.width) ? MAX_ID_WIDTH : options.width,
      longest(["CHILD", ...rows.map((row) => row.id)]),
    ),
    Math.min(MAX_STATE_WIDTH, longest(["STATE", ...rows.map((row) => row.state)])),
    longest(["ALIVE", ...rows.map((row) => row.alive)]),
    longest(["PROGRESS", ...rows.map((row) => row.progress)]),
  ] as const;
  const header = ["CHILD", "STATE", "ALIVE", "PROGRESS"].map((title, column) => title.padEnd(widths[column] as number));
  const lines = [dim(`${header.join("  ")}  DOING`, options.colour)];
  for (const row of rows) {
    const start = [
      fit(row.id, widths[0]),
      paint(fit(row.state, widths[1]), row.colour, options.colour),
      row.alive.padEnd(widths[2]),
      row.progress.padEnd(widths[3]),
    ].join("  ");
    const used = widths[0] + widths[1] + widths[2] + widths[3] + 8;
    lines.push(`${start}  ${cut(row.doing, Math.max(10, options.width - used))}`.trimEnd());
  }
  return lines;
}

/** `6 started = 1 live + 2 completed + 1 failed + 1 cancelled + 1 lost` */
export function countsLine(summary: SummaryView): string {
  const { started, live, stale, provisional, stateUnknown, byState } = summary;
  const sum = [
    `${live} live`,
    `${byState.completed} completed`,
    `${byState.failed} failed`,
    `${byState.cancelled} cancelled`,
    `${byState.lost} lost`,
  ].join(" + ");
  const marks = [
    stale === 0 ? [] : [`${stale} stale`],
    provisional === 0 ? [] : [`${provisional} provisional`],
    stateUnknown === 0 ? [] : [`${stateUnknown} without a known state`],
  ].flat();
  return `${started} started = ${sum}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
}

/** A change of a child as one line: when it was heard of, its literal state and marks, who it is, and what it does. */
export function changeLine(child: ChildView): string {
  const { state, id, doing: words } = rowOf(child, Date.parse(child.lastEvidenceAt));
  return [child.lastEvidenceAt, state, id, printable(child.source), words].filter((part) => part !== "").join("  ");
}

interface Row {
  readonly id: string;
  readonly state: string;
  readonly alive: string;
  readonly progress: string;
  readonly doing: string;
  readonly colour: number;
}

function rowOf(child: ChildView, now: number): Row {
  const state = child.state ?? "unknown";
  const marks = [
    child.stale === null ? [] : ["stale"],
    child.provisional ? ["provisional"] : [],
    child.lineage.external ? ["adopted"] : [],
  ].flat();
  const isOver = child.terminalEvidence !== null;
  return {
    id: printable(child.facts.name === undefined ? child.childId : `${child.facts.name} (${child.childId})`),
    state: `${STATE_MARKS[state] ?? "?"} ${state}${marks.length === 0 ? "" : ` · ${marks.join(" · ")}`}`,
    alive: aliveWords(child, now),
    progress: isOver ? "" : ageOf(child.lastProgressAt, now),
    doing: printable(doing(child)),
    colour: child.stale === null ? (STATE_COLOURS[state] ?? 0) : 33,
  };
}

/** Of a lost child nobody knows whether it has ended: only when it was last heard of. */
function aliveWords(child: ChildView, now: number): string {
  if (child.terminalEvidence === null || child.terminalEvidence === "failed_reconciliation") {
    return ageOf(child.lastEvidenceAt, now);
  }
  return `ended ${ageOf(child.stateAt ?? child.lastEvidenceAt, now)}`;
}

function doing(child: ChildView): string {
  const { facts, lateEvidence } = child;
  const parts: string[] = [];
  if (child.terminalEvidence !== null) {
    if (facts.cause !== undefined) parts.push(`cause ${facts.cause}`);
    if (facts.exitCode !== undefined) parts.push(`exit code ${facts.exitCode}`);
    if (facts.signal !== undefined) parts.push(facts.signal);
    if (child.terminalEvidence === "failed_reconciliation") parts.push("silent past every deadline");
    if (child.terminalEvidence === "authoritative_snapshot") parts.push("by snapshot");
  } else {
    if (facts.waitingOn !== undefined)
      parts.push(`on ${facts.waitingOn.kind}${suffix(facts.waitingOn.text ?? facts.waitingOn.childId)}`);
    if (child.activity !== null) parts.push(child.activity);
    else if (facts.tool !== undefined) parts.push(`tool ${facts.tool}`);
    if (child.stateEvidence === "authoritative_snapshot") parts.push("by snapshot");
  }
  if (lateEvidence !== null) parts.push(`contradicted: ${lateEvidence.count} after the end`);
  return parts.join(" · ");
}

function suffix(text: string | undefined): string {
  return text === undefined ? "" : `: ${text}`;
}

/** How long ago, in one unit: `4s`, `12m`, `3h`, `2d`. A time ahead of the reader's clock is `0s`. */
function ageOf(timestamp: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - (parseTimestamp(timestamp) ?? now)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Text from elsewhere must not steer the terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]+/g, " ");
}

function longest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, text.length), 0);
}

function fit(text: string, width: number): string {
  return cut(text, width).padEnd(width);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function paint(text: string, colour: number, enabled: boolean): string {
  return enabled && colour !== 0 ? `\u001b[${colour}m${text}\u001b[0m` : text;
}

function dim(text: string, enabled: boolean): string {
  return paint(text, 90, enabled);
}
