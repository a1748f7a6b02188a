import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { testDirectory } from "./running-server.ts";

/** A disk of its own, whose room is in the test's hand. */
export type SmallDisk = {
  readonly path: string;
  /** Leaves room for so many bytes, in whole pages; without a number, for as many as there are. */
  leaveRoom(bytes?: number): void;
};

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: "ignore" });

/** A file system in memory that goes with the test; where this user may not mount one, the test is skipped. */
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
        while (left > 0) left -= writeSync(file, chunk, 0, Math.min(left, chunk.length));
        if (left < 0) ftruncateSync(file, 0);
      } finally {
        closeSync(file);
      }
    },
  };
}

/** A command line that runs another one whose files may not grow beyond so many bytes: it needs no rights. */
export function withLimitedFiles(bytes: number): readonly string[] {
  return ["bash", "-c", `ulimit -f ${Math.floor(bytes / 1024)}; exec "$@"`, "limited"];
}
