/// <reference lib="dom" />

/** `<agent-lifecycle-board>`: the board inside a page of somebody else. Importing the module defines it. */
export declare class AgentLifecycleBoard extends HTMLElement {
  /** Bearer token of the scope read, or what gives it at each request. */
  token: string | (() => string | undefined) | undefined;
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-lifecycle-board": AgentLifecycleBoard;
  }
}
