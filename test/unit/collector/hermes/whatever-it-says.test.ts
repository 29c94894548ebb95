import fc from "fast-check";
import { expect, test } from "vitest";
import { type Members, payloadOf } from "../../../kit/hermes/frames.ts";
import { GATEWAY_0_19, GATEWAY_0_20_6, GATEWAY_0_21, type GatewayBuild } from "../../../kit/hermes/gateway-build.ts";
import { GatewayDouble } from "../../../kit/hermes/gateway-double.ts";
import { observe } from "./observation.ts";

const SESSION = "s1";

/** Any value, with a bias for what its member usually holds. */
function member(usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
}

const id = fc.constantFrom(
  "sa-0-a",
  "sa-0-b",
  "sa-1-a",
  "__proto__",
  " ",
  "x".repeat(300),
  "sa-\u{1f600}",
  "constructor",
);
const word = fc.constantFrom("running", "queued", "completed", "timeout", "banana", "", "x".repeat(2_000));
const number = fc.oneof(fc.nat(), fc.double(), fc.constantFrom(-1, Number.MAX_SAFE_INTEGER, 1e300));

/** A payload or row as some build might write it. */
const facts: fc.Arbitrary<Members> = fc.record(
  {
    subagent_id: member(id),
    parent_id: member(fc.oneof(id, fc.constant(null))),
    depth: member(fc.nat({ max: 3 })),
    goal: member(fc.string({ unit: "grapheme", maxLength: 200 })),
    model: member(fc.string()),
    status: member(word),
    tool_name: member(fc.string()),
    last_tool: member(fc.string()),
    tool_count: member(number),
    input_tokens: member(number),
    cost_usd: member(number),
    duration_seconds: member(number),
    files_read: member(fc.array(fc.string(), { maxLength: 3 })),
    child_session_id: member(fc.string()),
    delegation_id: member(fc.string()),
    routing_profile: member(fc.string()),
  },
  { requiredKeys: [] },
);

const type = fc.constantFrom(
  ...["spawn_requested", "start", "thinking", "tool", "progress", "complete", "text", "unheard_of"].map(
    (name) => `subagent.${name}`,
  ),
  "message.start",
  "sessions.changed",
);

type Step =
  | { readonly what: "emits"; readonly type: string; readonly payload: Members }
  | { readonly what: "lists"; readonly rows: unknown }
  | { readonly what: "answers"; readonly method: string; readonly answer: unknown }
  | { readonly what: "says"; readonly text: string }
  | { readonly what: "drops" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constant("emits" as const), type, payload: facts }) },
  {
    weight: 3,
    arbitrary: fc.record({ what: fc.constant("lists" as const), rows: member(fc.array(facts, { maxLength: 4 })) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant("answers" as const),
      method: fc.constantFrom("session.active_list", "session.events.since", "delegation.status"),
      answer: fc.oneof(
        fc.jsonValue(),
        fc.record({
          events: member(fc.array(fc.record({ type, session_id: fc.constant(SESSION), seq: number, payload: facts }))),
          latest_seq: member(number),
          truncated: member(fc.boolean()),
        }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("says" as const), text: fc.json() }) },
  { weight: 1, arbitrary: fc.constant({ what: "drops" as const }) },
);

function take(gateway: GatewayDouble, next: Step): void {
  switch (next.what) {
    case "emits":
      gateway.push(gateway.emit(SESSION, next.type, next.payload));
      return;
    case "lists":
      gateway.rows = next.rows;
      return;
    case "answers":
      gateway.answers.set(next.method, () => next.answer);
      return;
    case "says":
      gateway.sendText(next.text);
      return;
    case "drops":
      gateway.drop();
      return;
  }
}

/** The door behind the receiver refuses nothing here: a candidate that breaks the contract fails the test. */
test.each<[string, GatewayBuild]>([
  ["0.19", GATEWAY_0_19],
  ["0.20.6", GATEWAY_0_20_6],
  ["0.21", GATEWAY_0_21],
])(
  "whatever a gateway says (%s), only valid evidence comes of it, and the next child is read",
  async (_name, build) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const gateway = new GatewayDouble(build);
        gateway.openSession(SESSION);
        const { intake, receiver, look, time } = await observe(gateway, { options: { attach: true } });
        for (const next of steps) {
          take(gateway, next);
          await look();
        }
        gateway.answers.clear();
        gateway.rows = [];
        await time.advance(120_000);
        gateway.rows = [{ subagent_id: "sa-9-last", status: "running" }];
        await look(2);
        expect(receiver.status).toMatchObject({ state: "connected", eventsRefused: 0 });
        expect(intake.states["sa-9-last"]).toBe("running");
        gateway.push(gateway.emit(SESSION, "subagent.complete", payloadOf("sa-9-last", { status: "completed" })));
        await look(2);
        expect(intake.states["sa-9-last"]).toBe("completed");
        await receiver.shutdown();
      }),
      { numRuns: 60 },
    );
  },
  120_000,
);
