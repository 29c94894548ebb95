// One child as a row. Everything that comes from a child is set as text, never as markup.
import {
  adoptedWords,
  cancelWords,
  capabilityWords,
  doingWords,
  durationWords,
  endWords,
  isEnded,
  lateWords,
  provisionalWords,
  STATE_SHAPES,
  staleWords,
} from "./board-words.js";

function element(tag, className, text) {
  const created = document.createElement(tag);
  created.className = className;
  if (text !== undefined) created.textContent = text;
  return created;
}

/** A time of day, with the day where it is not today. */
export function clockWords(timestamp) {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? time.toLocaleTimeString() : time.toLocaleString();
}

/** @returns the row's element and a function that sets its clocks to a time of the collector */
export function createRow(child, depth) {
  const row = element("li", `child state-${child.state}`);
  row.dataset.depth = String(depth);
  row.append(stateOf(child), identityOf(child), doingOf(child));
  const freshness = freshnessOf(child);
  row.append(freshness.element, marksOf(child), element("p", "capabilities", capabilityWords(child)));
  return { element: row, setNow: freshness.setNow };
}

function stateOf(child) {
  const state = element("p", "state");
  const shape = element("span", "shape", STATE_SHAPES[child.state]);
  shape.setAttribute("aria-hidden", "true");
  state.append(shape, element("span", "word", child.state));
  if (child.stateInferred) state.append(element("span", "inferred", "implied by its source, not reported"));
  return state;
}

function identityOf(child) {
  const { name, agentType, model } = child.facts;
  const identity = element("div", "identity");
  if (name !== undefined) identity.append(element("strong", "name", name));
  identity.append(element("code", "child-id", child.childId));
  const origin = [`from ${child.source}`];
  if (agentType !== undefined) origin.push(agentType);
  if (model !== undefined) origin.push(model);
  if (child.lineage.attempt > 0) origin.push(`attempt ${child.lineage.attempt}`);
  if (child.lineage.parentChildId !== undefined) origin.push(`child of ${child.lineage.parentChildId}`);
  if (child.history === "partial") origin.push("history partial");
  identity.append(element("p", "origin", origin.join(" · ")));
  return identity;
}

function doingOf(child) {
  const words = doingWords(child);
  const doing = element("div", "doing");
  doing.append(element("p", words === "" ? "nothing-said" : "activity", words === "" ? "activity unknown" : words));
  const { transcriptRef, resultRef } = child.facts;
  if (transcriptRef !== undefined) doing.append(element("p", "reference", `transcript ${transcriptRef}`));
  if (resultRef !== undefined) doing.append(element("p", "reference", `result ${resultRef}`));
  return doing;
}

function freshnessOf(child) {
  const freshness = element("p", "freshness");
  if (isEnded(child)) {
    freshness.textContent = `ended ${clockWords(child.stateAt ?? child.lastObservedAt)}`;
    return { element: freshness, setNow: () => {} };
  }
  const alive = element("span", "age");
  const progress = element("span", "age");
  freshness.append(alive, progress);
  const lastEvidence = Date.parse(child.lastEvidenceAt);
  const lastProgress = Date.parse(child.lastProgressAt);
  const setNow = (now) => {
    alive.textContent = `heard of ${durationWords(now - lastEvidence)} ago`;
    progress.textContent = `progress ${durationWords(now - lastProgress)} ago`;
  };
  return { element: freshness, setNow };
}

function marksOf(child) {
  const marks = element("ul", "marks");
  const add = (className, words) => {
    if (words !== "") marks.append(element("li", className, words));
  };
  add("stale", staleWords(child, clockWords));
  add("provisional", provisionalWords(child));
  add("end", endWords(child));
  add("late", lateWords(child, clockWords));
  add("adopted", adoptedWords(child, clockWords));
  add("cancel", cancelWords(child, clockWords));
  return marks;
}
