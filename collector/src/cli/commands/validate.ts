import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { createJsonlReader, type Diagnostic, type JsonlItem, normalizeEvent } from "@agent-lifecycle/proto";
import { Command } from "commander";
import { EXIT_CODE } from "../exit-code.ts";

interface Finding {
  readonly line: number;
  readonly byteOffset: number;
  readonly diagnostic: Diagnostic;
}

const MAX_PRINTED = 100;

/** `agent-lifecycle validate`: whether every line of a JSONL file is an event of schema v1. */
export function validateCommand(): Command {
  return new Command("validate")
    .description("check a JSONL file of events against the contract")
    .argument("<file>", "path, or - for standard input")
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  agent-lifecycle validate events.jsonl")
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const { events, findings, problems } = await validate(file === "-" ? process.stdin : createReadStream(file));
      if (options.json === true) process.stdout.write(`${JSON.stringify({ valid: events, problems, findings })}\n`);
      else {
        for (const finding of findings) process.stdout.write(`${describe(finding)}\n`);
        if (problems > findings.length) process.stdout.write(`… and ${problems - findings.length} more\n`);
        process.stdout.write(`${events} valid events, ${problems} problems\n`);
      }
      if (problems > 0) process.exitCode = EXIT_CODE.findings;
    });
}

async function validate(input: Readable): Promise<{ events: number; problems: number; findings: readonly Finding[] }> {
  const reader = createJsonlReader();
  const findings: Finding[] = [];
  let events = 0;
  let invalid = 0;
  const note = (finding: Finding): void => {
    if (findings.length < MAX_PRINTED) findings.push(finding);
  };
  const take = (items: readonly JsonlItem[]): void => {
    for (const item of items) {
      if (!item.ok) {
        note({ line: item.line, byteOffset: item.byteOffset, diagnostic: { code: item.code, text: item.excerpt } });
        continue;
      }
      const normalized = normalizeEvent(item.value);
      if (normalized.ok) events += 1;
      else {
        invalid += 1;
        note({ line: item.line, byteOffset: item.byteOffset, diagnostic: normalized.diagnostic });
      }
    }
  };
  for await (const chunk of input) take(reader.push(chunk as Uint8Array));
  take(reader.end());
  const { malformed, oversize, truncated } = reader.problems;
  return { events, problems: invalid + malformed + oversize + truncated, findings };
}

function describe({ line, byteOffset, diagnostic }: Finding): string {
  const path = diagnostic.path === undefined || diagnostic.path === "" ? "" : ` ${diagnostic.path}:`;
  return `line ${line} (byte ${byteOffset}): ${diagnostic.code}:${path} ${diagnostic.text ?? ""}`.trimEnd();
}
