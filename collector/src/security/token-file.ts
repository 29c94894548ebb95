import { grantProblems } from "./grant-problems.ts";
import { readSecretFile, SecretFileError } from "./secret-file.ts";
import type { Grant, TokenGrant } from "./token-access.ts";

const MAX_TOKEN_FILE_BYTES = 4_096;

export interface TokenFile {
  readonly token: string;
  /** What an operator should change; the file is used all the same. */
  readonly warnings: readonly string[];
}

/**
 * Reads the one token of a file. White space around it, such as the line end that editors leave, is no part of it.
 * @throws SecretFileError when the file cannot be read, is empty, holds more than one line, or is larger than 4 KiB.
 */
export function readTokenFile(path: string): TokenFile {
  const { content, isReadableByOthers } = readSecretFile(path, MAX_TOKEN_FILE_BYTES);
  const token = content.toString("utf8").trim();
  if (token === "") throw new SecretFileError(`${path} holds no token`);
  if (/\s/.test(token))
    throw new SecretFileError(`${path} holds more than one token: it must be one line without spaces`);
  const warnings = isReadableByOthers ? [`${path} can be read by others than its owner: chmod 600 it`] : [];
  return { token, warnings };
}

/** A grant as an operator states it: with the token itself, or with the file that holds it. */
export interface StatedTokenGrant extends Grant {
  readonly token?: string;
  readonly tokenFile?: string;
}

/**
 * Reads the files of those that name one; called again whenever the files may have changed. Warnings are about files that
 * others can read, and tokens that are easy to guess.
 * @throws SecretFileError naming everything that cannot be used, such as a file that is not there or two tokens alike.
 * Nothing has changed then: the old grants stay in force.
 */
export function loadTokens(stated: readonly StatedTokenGrant[]): {
  readonly tokens: readonly TokenGrant[];
  readonly warnings: readonly string[];
} {
  const tokens: TokenGrant[] = [];
  const warnings: string[] = [];
  const failures: string[] = [];
  for (const { tokenFile, token, ...grant } of stated) {
    if (token !== undefined && tokenFile === undefined) {
      tokens.push({ ...grant, token });
      continue;
    }
    if (tokenFile === undefined || token !== undefined) {
      failures.push(`the token ${grant.name} must be said by exactly one of token and tokenFile`);
      continue;
    }
    try {
      const file = readTokenFile(tokenFile);
      tokens.push({ ...grant, token: file.token });
      warnings.push(...file.warnings);
    } catch (error) {
      if (!(error instanceof SecretFileError)) throw error;
      failures.push(error.message);
    }
  }
  for (const { path, text, severity } of grantProblems({ tokens })) {
    (severity === "error" ? failures : warnings).push(`${path}: ${text}`);
  }
  if (failures.length > 0) throw new SecretFileError(failures.join("; "));
  return { tokens, warnings };
}
