// Compiles the published JSON Schemas into standalone validators, so that neither side carries a schema compiler at run time.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import Ajv2020 from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";

const schemaFolder = new URL("../schema/", import.meta.url);
const target = new URL("../src/generated/validators.ts", import.meta.url);

async function schema(name) {
  return JSON.parse(await readFile(new URL(name, schemaFolder), "utf8"));
}

// The compiler leaves a copy of every schema behind, of which the validators use only the enumerations.
function withoutUnusedSchemas(code) {
  return code
    .split("\n")
    .filter((line) => {
      const name = /^const (schema\d+) = /.exec(line)?.[1];
      return name === undefined || code.match(new RegExp(`\\b${name}\\b`, "g")).length > 1;
    })
    .join("\n");
}

export async function generateValidators() {
  const ajv = new Ajv2020.default({
    strict: true,
    strictRequired: false,
    code: { source: true, esm: true, lines: true },
  });
  const event = await schema("event.v1.schema.json");
  const snapshot = await schema("snapshot.v1.schema.json");
  const contract = await schema("visibility-contract.v1.schema.json");
  ajv.addSchema([event, snapshot, contract]);
  const compiled = standaloneCode
    .default(ajv, { validEvent: event.$id, validSnapshot: snapshot.$id, validVisibilityContract: contract.$id })
    .replace(/^"use strict";\n?/, "")
    .replaceAll(/const (\w+) = require\("ajv\/dist\/runtime\/ucs2length"\)\.default;/g, "const $1 = codePointLength;")
    .replaceAll(/export const (\w+) = (\w+);/g, "export const $1: Validator = $2 as unknown as Validator;");
  const code = withoutUnusedSchemas(compiled);
  if (code.includes("require(")) throw new Error("the generated validators would need a package at run time");
  return [
    "// @ts-nocheck",
    "// Generated from proto/schema by `npm run generate`. Do not edit.",
    'import { codePointLength } from "../text.ts";',
    'import type { Validator } from "../validator.ts";',
    "",
    code,
  ].join("\n");
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const code = await generateValidators();
  const current = await readFile(target, "utf8").catch(() => "");
  await mkdir(new URL("./", target), { recursive: true });
  if (code !== current) await writeFile(target, code);
}
