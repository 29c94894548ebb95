import { createEventParser } from "@agent-lifecycle/collector/client";
import fc from "fast-check";
import { expect, it } from "vitest";

const STREAM = [
  "retry: 2000",
  "",
  ": alive",
  "",
  "event: child",
  "id: 7",
  'data: {"a":',
  "data: 1}",
  "",
  "data:x",
  "",
  "id: 9",
  "",
  "",
];

it.each(["\n", "\r\n", "\r"])("reads events with lines that end in %j, cut anywhere", (lineEnd) => {
  const text = STREAM.join(lineEnd);
  fc.assert(
    fc.property(fc.array(fc.nat({ max: text.length })), (cuts) => {
      const parse = createEventParser();
      const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      // What follows tells whether a CR was half of a line end.
      const pieces = [...places.slice(1).map((end, index) => text.slice(places[index], end)), ":\n"];
      expect(pieces.flatMap((piece) => parse(piece))).toEqual([
        { name: "child", data: '{"a":\n1}', id: "7" },
        { name: "message", data: "x", id: undefined },
      ]);
    }),
  );
});
