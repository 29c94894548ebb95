// What the board says, as pure functions of what the API says. Nothing here touches the page.

/** Shape and literal word of each state; colour comes on top and carries nothing alone. */
export const STATE_SHAPES = {
  created: "○",
  starting: "◔",
  running: "▶",
  waiting: "◆",
  completed: "✓",
  failed: "✕",
  cancelled: "⊘",
  lost: "?",
};

const ENDED = new Set(["completed", "failed", "cancelled", "lost"]);

export const isEnded = (child) => ENDED.has(child.state);

/** Which of the three lists a child stands in. */
export function groupOf(child) {
  if (child.state === "failed" || child.state === "lost") return "attention";
  if (isEnded(child)) return "finished";
  return child.state === "waiting" || child.stale !== null ? "attention" : "running";
}

/** Whole seconds, minutes, hours, days: the two largest that matter. */
export function durationWords(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const WAITING_WORDS = {
  user: "the user",
  permission: "a permission",
  auth: "a sign-in",
  child: "a child",
  tool: "a tool",
  provider_retry: "the provider, to try again",
  other: "something else",
};

/** What it is doing or waiting on, as its source said it; empty when its source said nothing. */
export function doingWords(child) {
  const { tool, waitingOn } = child.facts;
  const parts = [];
  if (waitingOn !== undefined) {
    const who = waitingOn.childId === undefined ? WAITING_WORDS[waitingOn.kind] : `child ${waitingOn.childId}`;
    parts.push(waitingOn.text === undefined ? `waits on ${who}` : `waits on ${who}: ${waitingOn.text}`);
  }
  if (child.activity !== null) parts.push(child.activity);
  if (tool !== undefined) parts.push(`tool ${tool}`);
  return parts.join(" · ");
}

const STALE_WORDS = {
  deadline: "nothing heard within its deadline",
  snapshot_omission: "complete snapshots no longer list it",
};

/** Why a non-terminal child is marked stale, and what happens next. */
export function staleWords(child, clockWords) {
  if (child.stale === null) return "";
  const question =
    child.reconciliation === null
      ? "nobody can be asked about it"
      : `its source has until ${clockWords(child.reconciliation.deadline)} to answer`;
  return `stale since ${clockWords(child.stale.since)}: ${STALE_WORDS[child.stale.reason]}; ${question}`;
}

/** What the record lacks. */
export function provisionalWords(child) {
  if (!child.provisional) return "";
  const reasons = child.missing.map((missing) => {
    if (missing === "epoch_gap") return "what happened between two runs of its source is not known";
    if (missing === "beginning") return "its beginning was not seen";
    const ranges = child.gaps.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    return ranges.length === 0 ? "reports are missing" : `missing reports ${ranges.join(", ")}`;
  });
  return `provisional: ${reasons.join("; ")}`;
}

export function adoptedWords(child, clockWords) {
  if (!child.lineage.external) return "";
  const { adoptedAt } = child.lineage;
  const when = adoptedAt === undefined ? "at an unknown time" : `at ${clockWords(adoptedAt)}`;
  return `adopted ${when}; nothing is claimed about its life before`;
}

/** How it ended, as far as somebody said so. */
export function endWords(child) {
  if (!isEnded(child)) return "";
  const { cause, exitCode, signal } = child.facts;
  const parts = [
    // Completing needs no cause; every other end has one, and it may be unknown.
    ...(cause === undefined ? (child.state === "completed" ? [] : ["cause unknown"]) : [`cause ${cause}`]),
    ...(exitCode === undefined ? [] : [`exit code ${exitCode}`]),
    ...(signal === undefined ? [] : [`signal ${signal}`]),
  ];
  if (child.terminalEvidence === "authoritative_snapshot") parts.push("known from an authoritative snapshot");
  if (child.terminalEvidence === "failed_reconciliation") parts.push("nobody answered for it by its deadline");
  return parts.join(", ");
}

export function lateWords(child, clockWords) {
  if (child.lateEvidence === null) return "";
  const { count, lastObservedAt, lastState } = child.lateEvidence;
  const said = lastState === null ? "" : `, saying ${lastState}`;
  return `contradicted: ${count} ${count === 1 ? "claim" : "claims"} after the end, the last at ${clockWords(lastObservedAt)}${said}`;
}

export function cancelWords(child, clockWords) {
  const { cancelRequestedAt } = child.facts;
  if (cancelRequestedAt === undefined || child.state === "cancelled") return "";
  const asked = `cancel requested at ${clockWords(cancelRequestedAt)}`;
  return isEnded(child) ? `${asked}, not honoured` : `${asked}, not confirmed`;
}

const CAPABILITY_WORDS = {
  history: "history",
  heartbeat: "heartbeat",
  snapshot: "snapshot",
  cancel: "cancel",
  terminalCause: "terminal cause",
};

/** Known and unknown, both in words (D4). */
export function capabilityWords(child) {
  const named = (knowledge) =>
    Object.keys(CAPABILITY_WORDS)
      .filter((name) => child.capabilities[name] === knowledge)
      .map((name) => CAPABILITY_WORDS[name]);
  const known = named("known");
  const unknown = named("unknown");
  const parts = [];
  if (known.length > 0) parts.push(`known: ${known.join(", ")}`);
  if (unknown.length > 0) parts.push(`unknown: ${unknown.join(", ")}`);
  return `capabilities ${parts.join("; ")}`;
}

/** The sum that always adds up. */
export function equationWords({ started, live, byState }) {
  const { completed, failed, cancelled, lost } = byState;
  return `${started} started = ${live} live + ${completed} completed + ${failed} failed + ${cancelled} cancelled + ${lost} lost`;
}

export function marksWords({ stale, provisional, stateUnknown }) {
  const unknown = stateUnknown === 0 ? "" : ` · ${stateUnknown} heard of, state unknown`;
  return `${stale} stale · ${provisional} provisional${unknown}`;
}

/** Whether a child is found by what was typed; every word has to occur somewhere. */
export function matches(child, filter) {
  const { name = "", agentType = "", tool = "" } = child.facts;
  const text =
    `${child.childId} ${child.source} ${name} ${agentType} ${tool} ${child.state} ${child.activity ?? ""}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Rows of one list, newest first, each child below its parent where both are in the list. */
export function inLineageOrder(children) {
  const byParent = new Map();
  const present = new Set(children.map(keyOf));
  for (const child of children) {
    const parent = parentKeyOf(child);
    const holder = present.has(parent) ? parent : "";
    if (!byParent.has(holder)) byParent.set(holder, []);
    byParent.get(holder).push(child);
  }
  const rows = [];
  const placed = new Set();
  const place = (holder, depth) => {
    const siblings = byParent.get(holder) ?? [];
    siblings.sort((first, second) => (first.firstObservedAt < second.firstObservedAt ? 1 : -1));
    for (const child of siblings) {
      if (placed.has(keyOf(child))) continue;
      placed.add(keyOf(child));
      rows.push({ child, depth: Math.min(depth, 4) });
      place(keyOf(child), depth + 1);
    }
  };
  place("", 0);
  // Two children that name each other as parent hang from nobody: they are rows all the same.
  for (const child of children) {
    if (placed.has(keyOf(child))) continue;
    placed.add(keyOf(child));
    rows.push({ child, depth: 0 });
    place(keyOf(child), 1);
  }
  return rows;
}

export const keyOf = (child) => JSON.stringify([child.source, child.childId]);

function parentKeyOf(child) {
  const { parentChildId } = child.lineage;
  return parentChildId === undefined ? "" : JSON.stringify([child.source, parentChildId]);
}
