import { decodeLogsJson, encodeLogsJson } from "@agent-lifecycle/proto";
import { expect, test } from "vitest";
import { eventsIn, logsOf, recordOf, SAMPLE_EVENT } from "../../kit/otlp-logs.ts";

interface JsonRequest {
  readonly resourceLogs: readonly {
    readonly scopeLogs: readonly {
      readonly logRecords: readonly { readonly attributes: { readonly key: string; readonly value: unknown }[] }[];
    }[];
  }[];
}

/** What became of a record whose details are this map, and of the one behind it. */
function withDetails(values: readonly unknown[]): readonly unknown[] {
  const request = JSON.parse(encodeLogsJson(logsOf(recordOf(SAMPLE_EVENT), recordOf(SAMPLE_EVENT)))) as JsonRequest;
  const [first] = request.resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
  first?.attributes.push({ key: "agent_lifecycle.details", value: { kvlistValue: { values } } });
  const decoded = decodeLogsJson(request);
  return decoded.ok ? eventsIn(decoded) : [decoded.problem];
}

// A found one: it made the whole request malformed.
test.each([
  ["leaves it out while it is empty", { value: { intValue: "3" } }],
  ["writes it as null", { key: null, value: { intValue: "3" } }],
  ["has an index of a string table instead (H21)", { keyStrindex: 4, value: { intValue: "3" } }],
])("the key of an entry in a map is empty where a sender %s", (_how, entry) => {
  expect(withDetails([{ key: "name", value: { stringValue: "reviewer" } }, entry])).toEqual([
    { ...SAMPLE_EVENT, details: { name: "reviewer", "": 3 } },
    SAMPLE_EVENT,
  ]);
});

test.each([[{ key: 5, value: {} }], ["entry"], [null]])(
  "an entry like %j is none, and the request malformed",
  (entry) => {
    expect(withDetails([entry])).toEqual([expect.stringMatching(/^(?:the key of a map entry|a map lists)/)]);
  },
);
