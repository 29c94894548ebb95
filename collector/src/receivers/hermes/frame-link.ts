/**
 * Why a link ended.
 *
 * refused      the gateway is there and does not let us in: credentials, host or peer. Trying again soon is no use
 * unreachable  nobody answered
 * oversize     a frame larger than we are willing to hold
 * unresponsive no sign of life within the time allowed
 * lost         the other side or the network ended it
 * closed       we did
 */
export interface LinkEnd {
  readonly kind: "refused" | "unreachable" | "oversize" | "unresponsive" | "lost" | "closed";
  /** In words, without secrets. */
  readonly text: string;
}

export interface LinkListener {
  /** One complete frame. */
  onFrame(text: string): void;
  /** Once, and nothing after it. */
  onEnd(end: LinkEnd): void;
}

/** Carries text frames in both directions. A link is opened once; a new connection is a new link. */
export interface FrameLink {
  /** Does nothing on a link that is not open. */
  send(text: string): void;
  /** Ends the link at once, without waiting for the other side. Safe twice. */
  end(end: LinkEnd): void;
  /** Resolves when nothing of the link is left: no socket, no process. */
  readonly gone: Promise<void>;
}

/** Begins to open a link; what comes of it is told to the listener. Never throws. */
export type OpenLink = (listener: LinkListener) => FrameLink;
