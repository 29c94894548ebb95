import { readFileSync } from "node:fs";

export interface ProcessMemory {
  /** Resident now. Bytes. */
  readonly residentBytes: number;
  /** The most that was ever resident since the process started, or since `resetPeak`. Bytes. */
  readonly peakBytes: number;
}

/** What the operating system says of a process's memory (Linux). */
export function memoryOf(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return { residentBytes: kibibytes(status, "VmRSS") * 1024, peakBytes: kibibytes(status, "VmHWM") * 1024 };
}

function kibibytes(status: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status);
  if (match === null) throw new Error(`the process status has no ${name}`);
  return Number(match[1]);
}
