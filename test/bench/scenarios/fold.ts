import { createProjection, DEFAULT_FRESHNESS, fold, Liveness } from "@agent-lifecycle/collector/projection";
import { canonicalEvent } from "@agent-lifecycle/proto";
import { eventStream, inputsOf } from "../load/event-stream.ts";
import type { Figure } from "../measure/figure.ts";
import { keep, ratesInTurns } from "../measure/rounds.ts";
import type { ScenarioContext } from "../scenario.ts";

/** Events a second through the rules alone, and with the watch for silence beside them. */
export async function measureFold({ quick }: ScenarioContext): Promise<readonly Figure[]> {
  const events = eventStream(quick ? 32_768 : 65_536);
  const inputs = inputsOf(events);
  const lines = events.map(canonicalEvent);
  const rates = await ratesInTurns(
    {
      parse: () => {
        for (const line of lines) keep(JSON.parse(line));
        return lines.length;
      },
      fold: () => {
        const projection = createProjection();
        for (const input of inputs) expectApplied(fold(projection, input).status);
        return inputs.length;
      },
      foldAndWatch: () => {
        const projection = createProjection();
        const liveness = new Liveness(() => DEFAULT_FRESHNESS);
        for (const input of inputs) for (const change of fold(projection, input).changes) liveness.observe(change);
        return inputs.length;
      },
    },
    { rounds: quick ? 3 : 7 },
  );
  const baseline = { name: "JSON.parse of the event", samples: rates.parse };
  return [
    { what: "fold", unit: "events/s", samples: rates.fold, baseline },
    { what: "fold and watch for silence", unit: "events/s", samples: rates.foldAndWatch, baseline },
  ];
}

function expectApplied(status: string): void {
  if (status !== "applied") throw new Error(`an event of the load was not applied but ${status}`);
}
