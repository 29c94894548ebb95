/**
 * A gateway of Hermes Agent, whose children are observed. Reached by exactly one of `url` and `stdio`, over `url` with at
 * most one of the four credentials.
 */
export interface HermesReceiverConfiguration {
  /** The source that its children are of; the receiver is its authority. Default `hermes`. */
  readonly source: string;
  /** `ws:` or `wss:`, without credentials. */
  readonly url?: string;
  /** The gateway's session token. */
  readonly token?: string;
  /** The token is the file's content without surrounding white space, read anew for each connection. */
  readonly tokenFile?: string;
  /** For a gateway behind a login: the `Cookie` header of a session that is logged in. */
  readonly loginCookie?: string;
  /** As `tokenFile`, for that header. */
  readonly loginCookieFile?: string;
  readonly stdio?: HermesStdioConfiguration;
  /** Between two looks at who runs. Milliseconds; default 1,000. */
  readonly pollIntervalMs: number;
  /** Joins live sessions as one more client, where the gateway shares them. Default `false`. */
  readonly attach: boolean;
  /** Lets administrators ask for a child to be stopped, where the gateway lets us. Default `false`. */
  readonly cancel: boolean;
  /** Names a child after the beginning of its goal. Default `true`. */
  readonly nameGoals: boolean;
  /** Largest frame that is held. Bytes; default 16 MiB. */
  readonly maxFrameBytes: number;
  /** An answer that takes longer is no answer. Milliseconds; default 10,000. */
  readonly requestTimeoutMs: number;
  /** Without a frame for so long the connection is given up. Milliseconds; default 45,000. */
  readonly silenceTimeoutMs: number;
}

/** A gateway that is started for us, and ends with us. */
export interface HermesStdioConfiguration {
  /** The program and its arguments; no shell reads it. Default `python -m tui_gateway.entry`. */
  readonly command: readonly [string, ...(readonly string[])];
  /** Default: the configuration's folder. */
  readonly workingDirectory?: string;
  /** Added to the collector's own environment. Default: nothing. */
  readonly environment: ReadonlyMap<string, string>;
}
