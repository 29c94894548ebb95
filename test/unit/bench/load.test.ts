import { createProjection, fold } from "@agent-lifecycle/collector/projection";
import { decodeLogsJson, decodeLogsProtobuf } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";
import { cohortEvents } from "../../bench/load/cohort.ts";
import { inputsOf } from "../../bench/load/event-stream.ts";
import { CohortRequests, encodeRequest } from "../../bench/load/requests.ts";

describe("the load of the benchmark", () => {
  test("every event of a cohort is applied, and every child ends", () => {
    const projection = createProjection();
    const statuses = inputsOf(cohortEvents(3)).map((input) => fold(projection, input).status);
    expect(new Set(statuses)).toEqual(new Set(["applied"]));
    const records = [...projection.sources.values()].flatMap(({ children }) => [...children.values()]);
    expect(new Set(records.map(({ state }) => state))).toEqual(new Set(["completed"]));
  });

  test.each(["protobuf", "json"] as const)(
    "a %s body that was written over is the one that would be encoded",
    (encoding) => {
      const requests = new CohortRequests(encoding, 512);
      requests.body(99_999_999, 1);
      const expected = encodeRequest(cohortEvents(7).slice(512, 1024), encoding);
      expect(requests.body(7, 1).equals(expected)).toBe(true);
    },
  );

  test("both encodings carry the same events", () => {
    const events = cohortEvents(5);
    const json = decodeLogsJson(JSON.parse(encodeRequest(events, "json").toString()));
    expect(decodeLogsProtobuf(encodeRequest(events, "protobuf"))).toEqual(json);
  });

  test("a request that would hold parts of two cohorts is refused", () => {
    expect(() => new CohortRequests("protobuf", 500)).toThrow(RangeError);
  });
});
