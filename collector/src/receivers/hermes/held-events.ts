import type { GatewayEvent } from "./gateway-frame.ts";

const MAX_EVENTS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Events that came unasked and wait for the next look: so many, and so much, that a gateway cannot fill our memory. */
export class HeldEvents {
  #events: GatewayEvent[] = [];
  #characters = 0;
  #lost = 0;

  /** @param characters length of the frame that it came in */
  add(event: GatewayEvent, characters: number): void {
    if (this.#events.length >= MAX_EVENTS || this.#characters + characters > MAX_CHARACTERS) {
      this.#lost += 1;
      return;
    }
    this.#events.push(event);
    this.#characters += characters;
  }

  /** All that is held, in order, and how many there was no room for. */
  take(): { readonly events: readonly GatewayEvent[]; readonly lost: number } {
    const taken = { events: this.#events, lost: this.#lost };
    this.#events = [];
    this.#characters = 0;
    this.#lost = 0;
    return taken;
  }
}
