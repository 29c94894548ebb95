/** What a build of the gateway does. Builds are told apart by that alone; the names are those of the lines that did it first. */
export interface GatewayBuild {
  /** Keeps and gives the frames of each session, and names its process. */
  readonly replay: boolean;
  /** Several clients may be attached to a session. Otherwise it has one slot, and the last one takes it. */
  readonly shared: boolean;
  /** Refuses a call for one member that it does not know. */
  readonly strict: boolean;
}

/** 0.19: no numbers, no replay, no name of the process. */
export const GATEWAY_0_19: GatewayBuild = { replay: false, shared: false, strict: false };
/** 0.20.6: streams can be read; a session still has one slot. */
export const GATEWAY_0_20_6: GatewayBuild = { replay: true, shared: false, strict: false };
/** 0.21 and later: sessions are shared, and only attached clients interrupt their children. */
export const GATEWAY_0_21: GatewayBuild = { replay: true, shared: true, strict: true };

export const GATEWAY_BUILDS: readonly (readonly [name: string, build: GatewayBuild])[] = [
  ["0.19", GATEWAY_0_19],
  ["0.20.6", GATEWAY_0_20_6],
  ["0.21", GATEWAY_0_21],
];
