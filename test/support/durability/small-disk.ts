import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { testDirectory } from "../server/running-server.ts";

/** A disk whose free space the test controls. */
export type SmallDisk = {
  readonly path: string;
  /** Limits the free space to this many bytes, in whole pages; without a number, to the whole disk. */
  leaveRoom(bytes?: number): void;
};

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: "ignore" });

/**
 * A file system in memory that is removed after the test. The test is skipped if this user may not mount one.
 */
export function mountSmallDisk(context: TestContext, mebibytes: number): SmallDisk {
  const path = testDirectory();
  try {
    run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", path);
  } catch {
    context.skip("only who may mount a tmpfs has a small disk to fill");
  }
  onTestFinished(() => {
    run("umount", "-l", path);
  });
  const ballast = join(path, "ballast");
  return {
    path,
    leaveRoom(bytes) {
      const file = openSync(ballast, "w");
      try {
        if (bytes === undefined) return;
        const { bavail, bsize } = statfsSync(path);
        let left = bavail * bsize - bytes;
        const chunk = Buffer.alloc(65_536);
        try {
          while (left > 0) left -= writeSync(file, chunk, 0, Math.min(left, chunk.length));
          if (left < 0) ftruncateSync(file, 0);
        } catch (error) {
          // Others write, too, so the disk may be full before.
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      } finally {
        closeSync(file);
      }
    },
  };
}

/** A command line that runs another one with a limit on file size, in bytes. It needs no privileges. */
export function withLimitedFiles(bytes: number): readonly string[] {
  return ["bash", "-c", `ulimit -f ${Math.floor(bytes / 1024)}; exec "$@"`, "limited"];
}
