import { exportersInUse, receiversInUse, snapshotSourcesInUse } from "../config/components.ts";
import type { CollectorConfiguration } from "../config/configuration.ts";
import type { PluginSpecification } from "./plugin-specification.ts";

/** The modules that a configuration asks for and that are to run. */
export function configuredPlugins(configuration: CollectorConfiguration): readonly PluginSpecification[] {
  const receivers = receiversInUse(configuration).flatMap((receiver): readonly PluginSpecification[] => {
    if (receiver.type !== "module") return [];
    const { id, settings } = receiver;
    return [{ kind: "receiver", id, ...settings, path: ["receivers", id] }];
  });
  const exporters = exportersInUse(configuration).flatMap((exporter): readonly PluginSpecification[] => {
    if (exporter.type !== "module") return [];
    const { id, settings } = exporter;
    return [{ kind: "exporter", id, ...settings, path: ["exporters", id] }];
  });
  const snapshotSources = snapshotSourcesInUse(configuration).flatMap((configured): readonly PluginSpecification[] => {
    if (configured.type !== "module") return [];
    const { id, settings } = configured;
    const { module, options, source } = settings;
    return [{ kind: "snapshot_source", id, module, options, source, path: ["snapshot_sources", id] }];
  });
  return [...receivers, ...exporters, ...snapshotSources];
}
