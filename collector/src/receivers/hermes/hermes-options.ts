import type { GatewayAddress } from "./gateway-address.ts";

/** How the gateway is reached: over its WebSocket, or as a process that we start. */
export type HermesTransport =
  | ({ readonly kind: "websocket" } & GatewayAddress)
  | {
      readonly kind: "stdio";
      /** Default: `python -m tui_gateway.entry`. No shell reads it. */
      readonly command?: readonly [string, ...(readonly string[])];
      readonly environment?: Readonly<Record<string, string>>;
      readonly workingDirectory?: string;
    };

/** What an operator may set, found sound by the configuration. Every default is in `HERMES_DEFAULTS`. */
export interface HermesOptions {
  /** The source that its children are of. One receiver speaks for one source. */
  readonly source: string;
  readonly transport: HermesTransport;
  /** Between two looks at who runs. Milliseconds. */
  readonly pollIntervalMs?: number;
  /** Attaches to live sessions where the gateway shares them, to hear at once when something happens. */
  readonly attach?: boolean;
  /** Whether children may be asked to stop, where the build lets us. */
  readonly cancel?: boolean;
  /** Whether the beginning of its goal names a child. */
  readonly nameGoals?: boolean;
  readonly maxFrameBytes?: number;
  /** An answer that takes longer is no answer. Milliseconds. */
  readonly requestTimeoutMs?: number;
  /** From opening a connection to the gateway's first frame. Milliseconds. */
  readonly readyTimeoutMs?: number;
  /**
   * Without a frame for so long, the connection is given up; after a third of it the gateway is asked for a sign of life.
   * Milliseconds.
   */
  readonly silenceTimeoutMs?: number;
}

export const HERMES_DEFAULTS: Required<Omit<HermesOptions, "source" | "transport">> & {
  readonly command: readonly [string, ...(readonly string[])];
} = {
  pollIntervalMs: 1_000,
  attach: false,
  cancel: false,
  nameGoals: true,
  maxFrameBytes: 16 * 1024 * 1024,
  requestTimeoutMs: 10_000,
  readyTimeoutMs: 30_000,
  silenceTimeoutMs: 45_000,
  command: ["python", "-m", "tui_gateway.entry"],
};
