import { EXPORTER_TYPES, typeOf } from "./components.ts";
import type { CollectorConfiguration, ReceiversConfiguration } from "./configuration.ts";
import { exporterProblems } from "./exporter-semantics.ts";
import { hermesProblems } from "./hermes-semantics.ts";
import type { ConfigurationProblem } from "./problem.ts";
import { snapshotSourceProblems } from "./snapshot-source-semantics.ts";
import { suggest } from "./suggestion.ts";

/** Receivers of these types are found by name, and there may be several. */
const NAMED_RECEIVERS: ReadonlySet<string> = new Set(["jsonl_file", "hermes", "module"]);
const ONLY_RECEIVERS: ReadonlySet<string> = new Set(["otlp", "jsonl_stdin"]);
/** Ids are labels of metrics. */
const MAX_ID_LENGTH = 64;
const RECEIVER_TYPES = [...ONLY_RECEIVERS, ...NAMED_RECEIVERS];

/** What is wrong with the ids of components, with what each says, and with those that are to run. */
export function componentProblems(configuration: CollectorConfiguration): readonly ConfigurationProblem[] {
  const { receivers, exporters, snapshotSources, service } = configuration;
  return [
    ...Object.keys(receivers).flatMap(receiverIdProblem),
    ...Object.keys(exporters).flatMap(exporterIdProblem),
    ...Object.keys(snapshotSources).flatMap(snapshotSourceIdProblem),
    ...receiverProblems(receivers),
    ...hermesProblems(receivers, service.receivers),
    ...snapshotSourceProblems(configuration),
    ...exporterProblems(exporters),
    ...useProblems("receivers", service.receivers, Object.keys(receivers)),
    ...useProblems("exporters", service.exporters, Object.keys(exporters)),
    ...useProblems("snapshot_sources", service.snapshotSources, Object.keys(snapshotSources)),
  ];
}

function receiverIdProblem(id: string): readonly ConfigurationProblem[] {
  const path = ["receivers", id];
  const type = typeOf(id);
  if (!RECEIVER_TYPES.includes(type)) {
    return [{ path, text: `there is no receiver of the type ${type}${suggest(type, RECEIVER_TYPES)}` }];
  }
  if (ONLY_RECEIVERS.has(type)) return id === type ? [] : [{ path, text: `${type} is there once and takes no name` }];
  return nameProblem(path, id);
}

function exporterIdProblem(id: string): readonly ConfigurationProblem[] {
  const path = ["exporters", id];
  const type = typeOf(id);
  if (!EXPORTER_TYPES.some((known) => known === type)) {
    return [{ path, text: `there is no exporter of the type ${type}${suggest(type, EXPORTER_TYPES)}` }];
  }
  return nameProblem(path, id);
}

const SNAPSHOT_SOURCE_TYPES = ["http", "push", "module"];

function snapshotSourceIdProblem(id: string): readonly ConfigurationProblem[] {
  const path = ["snapshot_sources", id];
  const type = typeOf(id);
  if (SNAPSHOT_SOURCE_TYPES.includes(type)) return nameProblem(path, id);
  return [{ path, text: `there is no snapshot source of the type ${type}${suggest(type, SNAPSHOT_SOURCE_TYPES)}` }];
}

function nameProblem(path: readonly string[], id: string): readonly ConfigurationProblem[] {
  if (id.length <= MAX_ID_LENGTH && /^[a-z_]+(?:\/[A-Za-z0-9][\w.-]*)?$/.test(id)) return [];
  const text = `must be a type, or a type/name of letters, digits, "_", "." and "-", with at most ${MAX_ID_LENGTH} characters`;
  return [{ path, text }];
}

function receiverProblems({ otlp, ...others }: ReceiversConfiguration): readonly ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (otlp !== undefined) {
    const path = ["receivers", "otlp", "protocols"];
    const { http, grpc } = otlp.protocols;
    if (http === null && grpc === null) problems.push({ path, text: "one of http and grpc must be there" });
    for (const [name, protocol] of Object.entries({ http, grpc })) {
      if (protocol !== null) checkSize(problems, [...path, name, "max_request_body"], protocol.maxRequestBodyBytes);
    }
  }
  for (const [id, settings] of Object.entries(others)) {
    if (settings !== undefined && "maxLineBytes" in settings) {
      checkSize(problems, ["receivers", id, "max_line"], settings.maxLineBytes);
    }
  }
  return problems;
}

function checkSize(problems: ConfigurationProblem[], path: readonly string[], value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  problems.push({ path, text: `must be a whole number above 0, not ${value}` });
}

function useProblems(
  member: "receivers" | "exporters" | "snapshot_sources",
  used: readonly string[],
  defined: readonly string[],
): readonly ConfigurationProblem[] {
  return used.flatMap((id, index) => {
    const path = ["service", member, index];
    if (used.indexOf(id) !== index) return [{ path, text: `${id} is named twice` }];
    if (defined.includes(id)) return [];
    return [{ path, text: `${member} has no ${id}${suggest(id, defined)}` }];
  });
}
