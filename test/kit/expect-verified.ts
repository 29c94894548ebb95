import { expect } from "vitest";
import { runCommand } from "./program.ts";

/** Has the real command replay a database, and expects it to agree with what is stored, without a word on standard error. */
export async function expectVerified(database: string): Promise<{ readonly inputs: number }> {
  const { exitCode, stdout, stderr } = await runCommand(["verify", "--database", database, "--json"]);
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  const verification = JSON.parse(stdout.toString()) as { readonly inputs: number };
  expect(verification).toMatchObject({ agrees: true, differingLines: 0, differentOutcomes: 0 });
  return verification;
}
