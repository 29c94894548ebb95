import { ADAPTER_TARGETS } from "./adapter-targets.ts";
import { CONTENT_TARGETS } from "./content-targets.ts";
import { OTLP_TARGETS } from "./otlp-targets.ts";
import { REDACTION_TARGETS } from "./redaction-target.ts";
import { SERVER_TARGETS } from "./server-targets.ts";
import type { FuzzTarget } from "./target.ts";

export const FUZZ_TARGETS: readonly FuzzTarget[] = [
  ...OTLP_TARGETS,
  ...CONTENT_TARGETS,
  ...REDACTION_TARGETS,
  ...ADAPTER_TARGETS,
  ...SERVER_TARGETS,
];
