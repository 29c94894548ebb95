import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** A file that holds a secret cannot be used. Its text names the file and never its content. */
export class SecretFileError extends Error {
  constructor(text: string, options?: ErrorOptions) {
    super(text, options);
    this.name = "SecretFileError";
  }
}

export interface SecretFile {
  readonly content: Buffer;
  /** Others than the file's owner may read it. Says nothing where the system keeps no such mode. */
  readonly isReadableByOthers: boolean;
}

const READABLE_BY_OTHERS = 0o044;

/**
 * Reads a small regular file; links to one are followed, as orchestrators mount secrets by them.
 * @throws SecretFileError when it cannot be read, is no regular file, or has more than `maxBytes`.
 */
export function readSecretFile(path: string, maxBytes: number): SecretFile {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    throw unreadable(path, error);
  }
  try {
    const { mode, size } = regularFile(path, descriptor);
    if (size > maxBytes) throw new SecretFileError(`${path} is larger than ${maxBytes} bytes`);
    // One byte more than may be there: what grows in between is noticed.
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    if (length > maxBytes) throw new SecretFileError(`${path} is larger than ${maxBytes} bytes`);
    const isReadableByOthers = process.platform !== "win32" && (mode & READABLE_BY_OTHERS) !== 0;
    return { content: buffer.subarray(0, length), isReadableByOthers };
  } catch (error) {
    throw error instanceof SecretFileError ? error : unreadable(path, error);
  } finally {
    closeSync(descriptor);
  }
}

function regularFile(path: string, descriptor: number): { readonly mode: number; readonly size: number } {
  const status = fstatSync(descriptor);
  if (!status.isFile()) throw new SecretFileError(`${path} is no regular file`);
  return status;
}

function unreadable(path: string, cause: unknown): SecretFileError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  return new SecretFileError(`cannot read ${path} (${code})`, { cause });
}
