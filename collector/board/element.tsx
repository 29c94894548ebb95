import { render } from "preact";
import { LifecycleClient } from "../src/client/lifecycle-client.ts";
import { BoardApp } from "./app.tsx";
import styles from "./board.css?inline";
import { heldAddress, lookOf } from "./model/address.ts";

/**
 * `<agent-lifecycle-board url="http://127.0.0.1:8787" look="view=tree">`: the board inside a page of somebody else. It
 * lives in a shadow root with its styles, so that neither page changes the other's looks, and it leaves the page's address
 * alone. The property `token` is the read token, or a function that gives it; it is in no attribute, since pages are
 * copied and logged.
 */
export class AgentLifecycleBoard extends HTMLElement {
  static readonly observedAttributes: readonly string[] = ["url", "look"];
  /** Bearer token of the scope read, or what gives it. */
  token: string | (() => string | undefined) | undefined;
  #root: ShadowRoot | undefined;

  connectedCallback(): void {
    this.#root ??= this.#open();
    this.#draw();
  }

  disconnectedCallback(): void {
    if (this.#root !== undefined) render(null, this.#root);
  }

  attributeChangedCallback(): void {
    if (!this.isConnected || this.#root === undefined) return;
    render(null, this.#root);
    this.#draw();
  }

  #open(): ShadowRoot {
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`:host { display: block; height: 40rem; } .board { height: 100%; } ${styles}`);
    // The board fills its element, not the window.
    const fill = new CSSStyleSheet();
    fill.replaceSync(".board { height: 100%; }");
    root.adoptedStyleSheets = [sheet, fill];
    return root;
  }

  #draw(): void {
    if (this.#root === undefined) return;
    const url = this.getAttribute("url") ?? location.origin;
    const token = (): string | undefined => (typeof this.token === "function" ? this.token() : this.token);
    const client = new LifecycleClient({ url, token });
    render(<BoardApp client={client} address={heldAddress(lookOf(this.getAttribute("look") ?? ""))} />, this.#root);
  }
}

customElements.define("agent-lifecycle-board", AgentLifecycleBoard);
