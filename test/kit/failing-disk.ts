import { execFileSync } from "node:child_process";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { temporaryDirectory } from "./event-file.ts";

/** A disk of a test's own that an error makes read-only while files on it are open, as the system does with broken ones. */
export interface FailingDisk {
  readonly path: string;
  /** The file system meets an error: from now on every write fails. */
  fail(): void;
  /** Repaired and mounted anew, as after a visit of somebody; nothing may be open on it. */
  replace(): void;
}

/** Skips the test where this process may not mount such a disk. */
export function mountFailingDisk(context: TestContext): FailingDisk {
  const folder = temporaryDirectory();
  const path = temporaryDirectory();
  const image = join(folder, "disk.img");
  const run = (command: string, ...argv: readonly string[]): string =>
    execFileSync(command, argv, { stdio: "pipe" }).toString();
  const mount = (): string => run("mount", "-o", "loop,errors=remount-ro", image, path);
  let trigger: string | undefined;
  try {
    writeFileSync(image, "");
    truncateSync(image, 32 * 1024 * 1024);
    run("mkfs.ext4", "-q", "-O", "^has_journal", image);
    mount();
    const device = run("findmnt", "-n", "-o", "SOURCE", path).trim().replace("/dev/", "");
    trigger = `/sys/fs/ext4/${device}/trigger_fs_error`;
  } catch {
    context.skip("this process may not mount a file system of its own on a loop device");
  }
  onTestFinished(() => void run("umount", "--lazy", path));
  return {
    path,
    fail: () => writeFileSync(trigger ?? "", "the disk failed"),
    replace: () => {
      run("umount", path);
      try {
        run("e2fsck", "-p", "-f", image);
      } catch (error) {
        // 1: errors were corrected.
        if ((error as { readonly status?: unknown }).status !== 1) throw error;
      }
      mount();
    },
  };
}
