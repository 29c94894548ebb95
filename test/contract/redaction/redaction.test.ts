import { readFile } from "node:fs/promises";
import { type LifecycleEvent, normalizeEvent } from "@agent-lifecycle/proto";
import { describe, expect, test } from "vitest";

interface Sample {
  readonly in: { readonly text?: string; readonly details?: Readonly<Record<string, unknown>> };
  readonly mustNotContain?: readonly string[];
  readonly expect?: unknown;
}

const corpus: unknown = JSON.parse(await readFile(new URL("./corpus.json", import.meta.url), "utf8"));
const { secret, harmless } = corpus as { readonly secret: readonly Sample[]; readonly harmless: readonly Sample[] };

function titled(samples: readonly Sample[]): (readonly [string, Sample])[] {
  return samples.map((sample) => [JSON.stringify(sample.in), sample]);
}

/** The sample through the door that every event passes: text as activity, members as details. */
function throughTheDoor({ text, details }: Sample["in"]): unknown {
  const event = normalized({ activity: text, details });
  return text === undefined ? event.details : event.activity;
}

function normalized(members: Record<string, unknown>): LifecycleEvent {
  const result = normalizeEvent({
    schemaVersion: 1,
    eventId: "e-1",
    source: "test",
    sourceEpoch: "1",
    childId: "child-1",
    lineage: { rootChildId: "child-1", attempt: 0, external: false },
    kind: "activity",
    observedAt: "2026-09-01T09:00:00Z",
    ...members,
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostic));
  return result.event;
}

describe("N3: a secret does not pass the door", () => {
  test.each(titled(secret))("%s", (_, sample) => {
    const passed = throughTheDoor(sample.in);
    for (const part of sample.mustNotContain ?? []) expect(JSON.stringify(passed)).not.toContain(part);
    expect(JSON.stringify(passed)).toContain("[redacted]");
    if (sample.expect !== undefined) expect(passed).toEqual(sample.expect);
  });

  test.each(titled(secret))("and not inside other text, or a second time: %s", (_, sample) => {
    const once = throughTheDoor(sample.in);
    expect(
      throughTheDoor(typeof once === "string" ? { text: once } : { details: once as Record<string, unknown> }),
    ).toEqual(once);
    if (sample.in.text === undefined) return;
    const inside = JSON.stringify(
      normalized({ details: { output: `line one\n${sample.in.text}\nlast line` } }).details,
    );
    for (const part of sample.mustNotContain ?? []) expect(inside).not.toContain(part);
  });
});

describe("N3: what is no secret stays as it is", () => {
  test.each(titled(harmless))("%s", (_, sample) => {
    expect(throughTheDoor(sample.in)).toEqual(sample.in.text ?? sample.in.details);
  });

  test("the corpus is large enough to mean something", () => {
    expect(secret.length).toBeGreaterThanOrEqual(60);
    expect(harmless.length).toBeGreaterThanOrEqual(60);
  });
});
