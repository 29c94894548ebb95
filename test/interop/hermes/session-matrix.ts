import { markdownTable } from "./markdown-table.ts";

/** A kind of new session: by its model, by who chose it, and by whether a profile routes it. */
export interface SessionKind {
  readonly model: string;
  /** Named when the session was opened, or left to what is configured. */
  readonly choice: "explicit" | "default";
  /** `removed`: there was one, and it is named all the same. */
  readonly profile: "none" | "present" | "removed";
}

export interface SessionResult {
  readonly kind: SessionKind;
  /** What the gateway made of the wish. */
  readonly gatewaySays: string;
  /** What the collector asked when the session was there, before anything happened in it. */
  readonly askedAtOpen: string;
  /** The model that the child's provider was asked for. */
  readonly askedModel: string;
  /** The model that the collector shows. */
  readonly shownModel: string;
  /** As the child's events say; `-` where there are none. */
  readonly routingProfile: string;
  /** Its states, and what the last of them rests on. */
  readonly life: string;
}

/** Every kind there is. */
export function sessionKinds(models: readonly string[]): readonly SessionKind[] {
  return (["none", "present", "removed"] as const).flatMap((profile) =>
    models.flatMap((model) => (["explicit", "default"] as const).map((choice) => ({ model, choice, profile }))),
  );
}

/**
 * What holds in every run: whether a gateway still knows a profile that was removed a moment ago is its own affair, and
 * differs from run to run.
 */
export function lastingTable(results: readonly SessionResult[]): string {
  const lasting = results.map((result) =>
    result.kind.profile === "removed" ? { ...result, gatewaySays: "opens it, with the profile or without" } : result,
  );
  return matrixTable(lasting);
}

export function matrixTable(results: readonly SessionResult[]): string {
  const rows = results.map(({ kind, gatewaySays, askedAtOpen, shownModel, routingProfile, life }) => [
    kind.model,
    kind.choice,
    kind.profile,
    gatewaySays,
    askedAtOpen,
    shownModel,
    routingProfile,
    life,
  ]);
  const heads = [
    "model",
    "chosen",
    "profile",
    "the gateway",
    "asked when it opens",
    "model shown",
    "routingProfile",
    "states shown",
  ];
  return markdownTable([heads, ...rows]);
}
