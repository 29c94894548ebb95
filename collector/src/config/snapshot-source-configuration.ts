/** Snapshot sources by their id, `type` or `type/name`. */
export interface SnapshotSourcesConfiguration {
  readonly http?: HttpSnapshotSourceConfiguration;
  readonly [id: `http/${string}`]: HttpSnapshotSourceConfiguration;
  readonly push?: PushSnapshotSourceConfiguration;
  readonly [id: `push/${string}`]: PushSnapshotSourceConfiguration;
  readonly module?: ModuleSnapshotSourceConfiguration;
  readonly [id: `module/${string}`]: ModuleSnapshotSourceConfiguration;
}

/** An authority that is asked. */
export interface AskedSourceConfiguration {
  /** The source that it answers for. */
  readonly source: string;
  /** Time between an answer and the next question that nobody asked for, up to a fifth longer. Milliseconds; default 30,000. */
  readonly intervalMs: number;
  /** An answer that takes longer is no answer. Milliseconds; default 5,000. */
  readonly timeoutMs: number;
  /** The wait after a question that came to nothing: doubled with each further one, and up to a fifth longer. */
  readonly retry: {
    /** Milliseconds; default 1,000. */
    readonly initialIntervalMs: number;
    /** Milliseconds; default 10,000. */
    readonly maxIntervalMs: number;
  };
}

/** An authority that answers a GET with its snapshot. */
export interface HttpSnapshotSourceConfiguration extends AskedSourceConfiguration {
  /** `http:` or `https:`, without credentials. */
  readonly url: string;
  /** Sent as a bearer token. Default: none. */
  readonly token: string | undefined;
  /** Holds the token; read before every question. Default: none. */
  readonly tokenFile: string | undefined;
  /** Default: the authorities that Node.js brings, and no certificate of our own. */
  readonly tls: SnapshotSourceTlsConfiguration | undefined;
  /** A longer answer is none. Bytes; default 16 MiB. */
  readonly maxAnswerBytes: number;
}

/** PEM files, read before every question. */
export interface SnapshotSourceTlsConfiguration {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** An authority that sends its snapshots to `POST /v1/lifecycle/snapshots`. */
export interface PushSnapshotSourceConfiguration {
  readonly source: string;
  /** How often it promises a snapshot at least; twice must fit into the source's `reconcileDeadlineMs`. Milliseconds; default 10,000. */
  readonly intervalMs: number;
  /** Name of the only token, or client certificate, whose snapshots are taken. Default: any that may speak for the source. */
  readonly tokenName: string | undefined;
}

/** An authority that someone else has written. */
export interface ModuleSnapshotSourceConfiguration extends AskedSourceConfiguration {
  /** As in `ModuleConfiguration`, and so are its options. */
  readonly module: string;
  readonly options: Readonly<Record<string, unknown>>;
}
