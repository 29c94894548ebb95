/** What V8 writes for `--cpu-prof`, as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Ids of the nodes that were on top of the stack, one a sample. */
  readonly samples: readonly number[];
  /** Time before each sample. Microseconds. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

export interface CallFrame {
  readonly functionName: string;
  /** Empty for what is not JavaScript. */
  readonly url: string;
  readonly lineNumber: number;
}

/** Time spent in a function itself. */
export interface SelfTime {
  readonly frame: CallFrame;
  /** The innermost JavaScript frame at or above it; the frame itself for JavaScript. */
  readonly script: CallFrame;
  readonly microseconds: number;
}

const IDLE = "(idle)";

/**
 * Self times of a profile, the longest first, without what the thread spent waiting for work. A call into native code
 * stands under the script that made it.
 * @throws TypeError when a sample names a node that the profile does not have.
 */
export function selfTimesOf({ nodes, samples, timeDeltas }: CpuProfile): readonly SelfTime[] {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));
  const scriptOf = (node: ProfileNode): CallFrame => {
    for (let at: ProfileNode | undefined = node; at !== undefined; at = parentOf.get(at.id)) {
      if (at.callFrame.url !== "") return at.callFrame;
    }
    return node.callFrame;
  };
  const times = new Map<string, { frame: CallFrame; script: CallFrame; microseconds: number }>();
  for (const [index, id] of samples.entries()) {
    const node = nodeOf.get(id);
    if (node === undefined) throw new TypeError(`the profile has no node ${id}`);
    const { callFrame: frame } = node;
    if (frame.functionName === IDLE) continue;
    const script = scriptOf(node);
    const key = [frame.functionName, frame.url, frame.lineNumber, script.url, script.functionName].join("\n");
    const time = times.get(key) ?? { frame, script, microseconds: 0 };
    time.microseconds += timeDeltas[index] ?? 0;
    times.set(key, time);
  }
  return [...times.values()].sort((first, second) => second.microseconds - first.microseconds);
}

/** A part of the collector, and how its functions are told from others. */
interface Part {
  readonly name: string;
  readonly owns: (time: SelfTime) => boolean;
}

const isIn =
  (...places: readonly string[]) =>
  ({ script }: SelfTime): boolean =>
    places.some((place) => script.url.includes(place));

/** In the order in which they are asked: the first that owns a function has it. */
const PARTS: readonly Part[] = [
  { name: "garbage collection", owns: ({ frame }) => frame.functionName === "(garbage collector)" },
  // The engine counts calls into SQLite as time of those who make them.
  { name: "store and SQLite", owns: isIn("/collector/dist/store/") },
  { name: "decoding OTLP", owns: isIn("/proto/dist/otlp-", "/proto/dist/text.", "/protobufjs/") },
  { name: "redaction", owns: isIn("/proto/dist/redact.", "/proto/dist/secret-") },
  { name: "canonical text", owns: isIn("/proto/dist/canonical.") },
  { name: "normalizing", owns: isIn("/proto/dist/") },
  { name: "folding", owns: isIn("/collector/dist/core/") },
  { name: "door and writer", owns: isIn("/collector/dist/runtime/") },
  {
    name: "HTTP",
    owns: isIn("/collector/dist/http/", "/collector/dist/receivers/", "/collector/dist/server/", "node:", "/fastify/"),
  },
  { name: "other", owns: () => true },
];

export interface PartTime {
  readonly part: string;
  readonly microseconds: number;
}

/** The self times, summed by the part of the collector that spent them, the longest first. */
export function timesByPart(times: readonly SelfTime[]): readonly PartTime[] {
  const sums = new Map<string, number>();
  for (const time of times) {
    const part = PARTS.find(({ owns }) => owns(time))?.name ?? "other";
    sums.set(part, (sums.get(part) ?? 0) + time.microseconds);
  }
  return [...sums]
    .map(([part, microseconds]) => ({ part, microseconds }))
    .sort((first, second) => second.microseconds - first.microseconds);
}
