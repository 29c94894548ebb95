// The host's own page: it moves the board to what its user asks for, and draws a badge from the same data.
import { follow, LifecycleClient } from "/client.js";

const board = document.querySelector("agent-lifecycle-board");
for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => board.setAttribute("look", button.dataset.look));
}

const badge = document.querySelector("#badge");
const show = (summary) => {
  badge.textContent = summary.evidenceSeen
    ? `background work: ${summary.live} live, ${summary.stale} stale`
    : "Background work visibility unavailable; state unknown.";
};
await follow(
  new LifecycleClient({ url: location.origin }),
  {
    onConnection: ({ kind }) => {
      if (kind === "interrupted") badge.textContent += " (connection lost; this is old)";
    },
    onListed: (_children, summary) => show(summary),
    onChanged: (_children, summary) => {
      if (summary !== undefined) show(summary);
    },
  },
  { lists: [{ most: 1 }] },
);
