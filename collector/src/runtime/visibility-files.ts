import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, normalizeVisibilityContract } from "@agent-lifecycle/proto";
import { replaceDurably } from "./durable-file.ts";
import type { VisibilityDeclaration } from "./visibility-ledger.ts";

/** Keeps the newest declaration of each source in a file of its own, beside the database and not in it. */
export interface VisibilityFiles {
  /** Those that can be read; a damaged one is as good as none, its source declares again. */
  load(): readonly VisibilityDeclaration[];
  /** One after the other, always the newest of a source. Never rejects. */
  keep(declaration: VisibilityDeclaration): void;
}

export function createVisibilityFiles(folder: string, onError: (error: unknown) => void): VisibilityFiles {
  const waiting = new Map<string, VisibilityDeclaration>();
  let isSaving = false;
  const save = async (): Promise<void> => {
    for (const [source, declaration] of waiting) {
      waiting.delete(source);
      const name = createHash("sha256").update(source).digest("hex").slice(0, 32);
      await replaceDurably(join(folder, `${name}.json`), `${JSON.stringify(declaration)}\n`).catch(onError);
    }
    isSaving = false;
  };
  return {
    load: () => namesIn(folder).flatMap((name) => declarationIn(join(folder, name))),
    keep: (declaration) => {
      waiting.set(declaration.contract.source, declaration);
      if (isSaving) return;
      isSaving = true;
      void save();
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
}

function declarationIn(path: string): readonly VisibilityDeclaration[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isJsonObject(value) || typeof value["declaredAt"] !== "string") return [];
    const normalized = normalizeVisibilityContract(value["contract"]);
    return normalized.ok ? [{ contract: normalized.contract, declaredAt: value["declaredAt"] }] : [];
  } catch {
    return [];
  }
}
