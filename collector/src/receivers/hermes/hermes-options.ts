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

/** What an operator may set. Every default is in `HERMES_DEFAULTS`. */
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
  /** Without a frame for so long, the gateway is asked for a sign of life. Milliseconds. */
  readonly pingIntervalMs?: number;
  /** Without a frame for so long, the connection is given up. Milliseconds. */
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
  pingIntervalMs: 15_000,
  silenceTimeoutMs: 45_000,
  command: ["python", "-m", "tui_gateway.entry"],
};

/** What is wrong with options that have the right types, each with its member; empty when nothing is. */
export function checkHermesOptions(
  options: HermesOptions,
): readonly { readonly path: string; readonly text: string }[] {
  const problems: { readonly path: string; readonly text: string }[] = [];
  const { transport } = options;
  if (options.source.trim() === "") problems.push({ path: "source", text: "names no source" });
  if (transport.kind === "websocket") problems.push(...checkAddress(transport));
  const { pingIntervalMs, silenceTimeoutMs } = { ...HERMES_DEFAULTS, ...options };
  if (silenceTimeoutMs < 2 * pingIntervalMs) {
    problems.push({ path: "silenceTimeoutMs", text: "less than twice pingIntervalMs: one late answer would end it" });
  }
  for (const name of NUMBERS) {
    const value = options[name];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    problems.push({ path: name, text: "is no whole number of at least 1" });
  }
  return problems;
}

const NUMBERS = [
  "pollIntervalMs",
  "maxFrameBytes",
  "requestTimeoutMs",
  "readyTimeoutMs",
  "pingIntervalMs",
  "silenceTimeoutMs",
] as const;

function checkAddress(address: GatewayAddress): readonly { readonly path: string; readonly text: string }[] {
  const problems: { readonly path: string; readonly text: string }[] = [];
  if (!URL.canParse(address.url)) return [{ path: "transport.url", text: "is no URL" }];
  const url = new URL(address.url);
  if (url.protocol !== "ws:" && url.protocol !== "wss:") {
    problems.push({ path: "transport.url", text: "begins neither with ws: nor with wss:" });
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    problems.push({ path: "transport.url", text: "carries credentials or parameters: they have members of their own" });
  }
  const credentials = [address.token, address.tokenFile, address.ticketCookie].filter((each) => each !== undefined);
  if (credentials.length > 1) {
    problems.push({ path: "transport", text: "has more than one of token, tokenFile and ticketCookie" });
  }
  return problems;
}
