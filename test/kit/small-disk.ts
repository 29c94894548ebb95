import { execFileSync } from "node:child_process";
import { onTestFinished, type TestContext } from "vitest";
import { temporaryDirectory } from "./event-file.ts";

/** A file system of a test's own, gone after it. */
export interface SmallDisk {
  readonly path: string;
  /** Mounts it anew, as `ro` or `rw`. */
  remount(mode: "ro" | "rw"): void;
}

/** Skips the test where this process may not mount one. */
export function mountSmallDisk(context: TestContext, options: string): SmallDisk {
  const path = temporaryDirectory();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "pipe" });
  } catch {
    context.skip("this process may not mount a file system");
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", path]));
  return { path, remount: (mode) => void execFileSync("mount", ["-o", `remount,${mode}`, path], { stdio: "pipe" }) };
}
