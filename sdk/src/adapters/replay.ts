import type { Adapter } from "./adapter.ts";
import { Observation } from "./observation.ts";

/**
 * What was set aside about somebody is mapped, in the order it came, as soon as an input has made that child known: after
 * that input, with the times of its own arrival.
 */
export function releasing(map: Adapter["map"]): Adapter["map"] {
  return (before, input) => {
    let result = map(before, input);
    for (const name of result.state.quarantined.keys()) {
      const observation = new Observation(result.state, input.observedAtMs);
      if (observation.find(name) === undefined) continue;
      const inputs = observation.released(name);
      result = { ...result, state: observation.finish().state };
      for (const released of inputs) {
        const { state, events, diagnostics } = map(result.state, released);
        result = { state, events: [...result.events, ...events], diagnostics: [...result.diagnostics, ...diagnostics] };
      }
    }
    return result;
  };
}
