import {
  CAPABILITY_NAMES,
  type Diagnostic,
  formatTimestamp,
  type LifecycleEvent,
  normalizeVisibilityContract,
  type VisibilityContract,
  type VisibilityMismatchView,
  type VisibilityView,
} from "@agent-lifecycle/proto";

/** The member of a diagnostic event's details that a declaration travels in. */
const DECLARATION = "visibilityContract";
/** Sources whose declarations are kept; those of further ones are reported and not kept. */
const MAX_SOURCES = 1_000;

/** A declaration, as it is kept over restarts. */
export interface VisibilityDeclaration {
  readonly contract: VisibilityContract;
  readonly declaredAt: string;
}

export interface VisibilityLedgerParts {
  /** Declarations of earlier runs. */
  readonly declarations: readonly VisibilityDeclaration[];
  /** Keeps one, in its own time. */
  readonly keep: (declaration: VisibilityDeclaration) => void;
  /** Hears of each way in which a source differs from its declaration, once. */
  readonly report: (diagnostic: Diagnostic) => void;
  /** How long a child of the source may be silent before it is stale, milliseconds. */
  readonly staleAfterMs: (source: string) => number;
  /** How the authority of the source speaks here, if it has any. */
  readonly authorityOf: (source: string) => "pull" | "push" | undefined;
}

interface Entry {
  readonly declaration: VisibilityDeclaration;
  readonly mismatches: Map<string, { text: string; count: number; firstSeenAt: string; lastSeenAt: string }>;
}

/**
 * What was declared of each source, and whether what is seen of it agrees. A declaration is a claim about visibility and
 * no evidence: it changes no child, and a difference is told and nothing else.
 */
export class VisibilityLedger {
  readonly #parts: VisibilityLedgerParts;
  readonly #entries = new Map<string, Entry>();

  constructor(parts: VisibilityLedgerParts) {
    this.#parts = parts;
    for (const declaration of parts.declarations.slice(0, MAX_SOURCES)) this.#put(declaration);
  }

  /** Takes a look at an event that was stored as new evidence. Costs next to nothing for sources without a declaration. */
  observe(event: LifecycleEvent, receivedAtMs: number): void {
    if (event.kind === "diagnostic") {
      const stated = event.details?.[DECLARATION];
      if (stated !== undefined) this.#declare(event, stated, receivedAtMs);
      return;
    }
    const entry = this.#entries.get(event.source);
    if (entry !== undefined) this.#compare(entry, event, receivedAtMs);
  }

  view(source: string): VisibilityView | undefined {
    const entry = this.#entries.get(source);
    if (entry === undefined) return undefined;
    const mismatches = [...entry.mismatches].map(([path, seen]): VisibilityMismatchView => ({ path, ...seen }));
    return { ...entry.declaration, mismatches };
  }

  /** Sources of which something was declared. */
  sources(): Iterable<string> {
    return this.#entries.keys();
  }

  #declare(event: LifecycleEvent, stated: unknown, receivedAtMs: number): void {
    const normalized = normalizeVisibilityContract(stated);
    if (!normalized.ok) {
      this.#parts.report({
        code: "visibility_mismatch",
        path: `details.${DECLARATION}.${normalized.path}`,
        text: `${event.source}: a visibility contract that is none: ${normalized.text}`,
      });
      return;
    }
    const { contract } = normalized;
    // A source speaks for itself alone.
    if (contract.source !== event.source) {
      const text = `${event.source} declares the visibility of another source`;
      this.#parts.report({ code: "visibility_mismatch", path: `details.${DECLARATION}.source`, text });
      return;
    }
    const known = this.#entries.get(contract.source);
    if (known === undefined && this.#entries.size >= MAX_SOURCES) {
      const text = `visibility contracts are kept of ${MAX_SOURCES} sources; that of ${contract.source} is not`;
      this.#parts.report({ code: "visibility_mismatch", path: DECLARATION, text });
      return;
    }
    const declaration = { contract, declaredAt: formatTimestamp(receivedAtMs) };
    this.#put(declaration);
    this.#parts.keep(declaration);
    this.#compareWithOurselves(contract, receivedAtMs);
  }

  #put(declaration: VisibilityDeclaration): void {
    this.#entries.set(declaration.contract.source, { declaration, mismatches: new Map() });
  }

  /**
   * A declared rhythm of heartbeats that this collector has no patience for makes live children stale (S8), and an
   * authority that nobody asks answers nothing. That none is declared is what who reports knows: there may be one.
   */
  #compareWithOurselves({ source, events, snapshot: { authority } }: VisibilityContract, receivedAtMs: number): void {
    const entry = this.#entries.get(source);
    if (entry === undefined) return;
    const { heartbeatIntervalMs } = events;
    const staleAfterMs = this.#parts.staleAfterMs(source);
    if (heartbeatIntervalMs !== undefined && staleAfterMs < 2 * heartbeatIntervalMs) {
      const text = `a heartbeat every ${heartbeatIntervalMs} ms is declared, and silence of ${staleAfterMs} ms is stale here`;
      this.#note(entry, "events.heartbeatIntervalMs", text, receivedAtMs);
    }
    const configured = this.#parts.authorityOf(source);
    if ((authority === "pull" || authority === "push") && authority !== configured) {
      const here = configured === undefined ? "the source has no authority here" : `here it is one to ${configured}`;
      this.#note(entry, "snapshot.authority", `an authority to ${authority} is declared, and ${here}`, receivedAtMs);
    }
  }

  #compare(entry: Entry, event: LifecycleEvent, receivedAtMs: number): void {
    const { capabilities, events } = entry.declaration.contract;
    const note = (path: string, text: string): void => this.#note(entry, path, text, receivedAtMs);
    if (events.sequence === "per_child" && event.sequence === undefined) {
      note("events.sequence", "a sequence for each child is declared, and an event has none");
    }
    if (events.sequence === "none" && event.sequence !== undefined) {
      note("events.sequence", "no sequence is declared, and an event has one");
    }
    if (event.kind === "heartbeat" && capabilities.heartbeat === "unknown") {
      note("capabilities.heartbeat", "heartbeats are not declared, and one came");
    }
    if (event.kind === "activity" && capabilities.activity === "unknown") {
      note("capabilities.activity", "activities are not declared, and one came");
    }
    if (event.kind === "created" && !event.lineage.external) this.#compareOffers(entry, event, receivedAtMs);
    const ended = event.kind === "terminal" && event.state === "failed";
    if (ended && capabilities.terminalCause === "known" && event.details?.cause === undefined) {
      note("capabilities.terminalCause", "the cause of an end is declared to be known, and a failure states none");
    }
  }

  /** A child that begins says what its source offers: that is where a promise that is not kept shows first. */
  #compareOffers(entry: Entry, event: LifecycleEvent, receivedAtMs: number): void {
    for (const name of CAPABILITY_NAMES) {
      const declared = entry.declaration.contract.capabilities[name];
      const offered = event.capabilities[name];
      if (declared === offered) continue;
      const text = `declared ${declared}, and a child begins with ${offered}`;
      this.#note(entry, `capabilities.${name}`, text, receivedAtMs);
    }
  }

  #note(entry: Entry, path: string, text: string, receivedAtMs: number): void {
    const at = formatTimestamp(receivedAtMs);
    const seen = entry.mismatches.get(path);
    if (seen !== undefined) {
      seen.count += 1;
      seen.lastSeenAt = at;
      return;
    }
    entry.mismatches.set(path, { text, count: 1, firstSeenAt: at, lastSeenAt: at });
    const { source } = entry.declaration.contract;
    this.#parts.report({ code: "visibility_mismatch", path, text: `${source}: ${text}` });
  }
}
