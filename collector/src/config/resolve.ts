import { typeOf } from "./components.ts";
import type {
  CollectorConfiguration,
  ExportersConfiguration,
  ListenerConfiguration,
  ReceiversConfiguration,
} from "./configuration.ts";
import {
  type ComponentDefaults,
  DEFAULT_CONFIGURATION,
  DEFAULT_HERMES_STDIO,
  DEFAULT_TLS,
  EXPORTER_DEFAULTS,
  RECEIVER_DEFAULTS,
  SNAPSHOT_SOURCE_DEFAULTS,
} from "./defaults.ts";
import { isPlain, overlay, type Stated } from "./overlay.ts";
import type { ConfigurationProblem } from "./problem.ts";
import { semanticProblems } from "./semantics.ts";
import type { SnapshotSourcesConfiguration } from "./snapshot-source-configuration.ts";

/**
 * What is to differ from the defaults. Receivers, exporters and snapshot sources that are stated are all there are; each member that one
 * of them leaves out has its default.
 */
export type StatedConfiguration = Stated<CollectorConfiguration>;

/** Lays what was said over the defaults and finds everything that is wrong with it, not only the first thing. */
export function resolveConfiguration(stated: StatedConfiguration = {}): {
  readonly configuration: CollectorConfiguration;
  readonly problems: readonly ConfigurationProblem[];
} {
  const configuration = applyDefaults(stated);
  return { configuration, problems: semanticProblems(configuration) };
}

function applyDefaults({
  receivers,
  exporters,
  snapshotSources,
  ...stated
}: StatedConfiguration): CollectorConfiguration {
  const rest = overlay<CollectorConfiguration>(DEFAULT_CONFIGURATION, stated);
  const configured = {
    ...rest,
    receivers: withDefaults<ReceiversConfiguration>(RECEIVER_DEFAULTS, receivers) ?? DEFAULT_CONFIGURATION.receivers,
    exporters: withDefaults<ExportersConfiguration>(EXPORTER_DEFAULTS, exporters) ?? DEFAULT_CONFIGURATION.exporters,
    snapshotSources:
      withDefaults<SnapshotSourcesConfiguration>(SNAPSHOT_SOURCE_DEFAULTS, snapshotSources) ??
      DEFAULT_CONFIGURATION.snapshotSources,
    api: withTlsDefaults(rest.api),
  };
  return {
    ...configured,
    receivers: withStdioDefaults(withListenerDefaults(configured.receivers)),
    service: {
      ...rest.service,
      receivers: stated.service?.receivers ?? Object.keys(configured.receivers),
      exporters: stated.service?.exporters ?? Object.keys(configured.exporters),
      snapshotSources: stated.service?.snapshotSources ?? Object.keys(configured.snapshotSources),
    },
  };
}

/** Lays each stated component over the defaults of its type. One of an unknown type stays as it is, to be reported. */
function withDefaults<Components extends object>(
  defaultsByType: ComponentDefaults,
  stated: Stated<Components> | undefined,
): Components | undefined {
  if (stated === undefined) return undefined;
  const components = Object.entries(stated)
    .filter(([, settings]) => settings !== undefined)
    .map(([id, settings]) => [id, overlay<unknown>(defaultsOf(defaultsByType, typeOf(id)), settings)] as const);
  return Object.fromEntries(components) as Components;
}

function defaultsOf(defaultsByType: ComponentDefaults, type: string): object {
  return (Object.hasOwn(defaultsByType, type) ? defaultsByType[type] : undefined) ?? {};
}

function withListenerDefaults(receivers: CollectorConfiguration["receivers"]): CollectorConfiguration["receivers"] {
  if (receivers.otlp === undefined) return receivers;
  const { http, grpc } = receivers.otlp.protocols;
  const protocols = { http: http && withTlsDefaults(http), grpc: grpc && withTlsDefaults(grpc) };
  return { ...receivers, otlp: { protocols } };
}

/** Only a gateway that is to be started has a command. */
function withStdioDefaults(receivers: CollectorConfiguration["receivers"]): CollectorConfiguration["receivers"] {
  const entries = Object.entries(receivers).map(([id, settings]: readonly [string, object]) => {
    const stdio = typeOf(id) === "hermes" && "stdio" in settings ? settings.stdio : undefined;
    return [id, isPlain(stdio) ? { ...settings, stdio: overlay<object>(DEFAULT_HERMES_STDIO, stdio) } : settings];
  });
  return Object.fromEntries(entries) as CollectorConfiguration["receivers"];
}

function withTlsDefaults<Listener extends ListenerConfiguration>(listener: Listener): Listener {
  return listener.tls === undefined ? listener : { ...listener, tls: { ...DEFAULT_TLS, ...listener.tls } };
}
