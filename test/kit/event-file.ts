import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LifecycleEvent, parseCanonicalEvent } from "@agent-lifecycle/proto";
import { onTestFinished } from "vitest";

/** The events of a JSONL file; none when the file is not there. */
export function readEvents(path: string): readonly LifecycleEvent[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(parseCanonicalEvent);
}

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-lifecycle-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
