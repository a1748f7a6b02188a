import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Verification } from "../../store/file/verify-world.ts";
import { databasesIn, worldFilePath, worldsFolder } from "../../worlds/directory-layout.ts";
import { CliError } from "../terminal/cli-error.ts";
import { verifyWorldFile } from "./world-history.ts";

/** The longest pause between two portions of events, in milliseconds of wall-clock time. */
const MAX_PAUSE_MS = 1_000;

/** Result of the scrub of one world. */
export type ScrubResult = Pick<Verification, "ok" | "to" | "rows" | "differences"> & {
  readonly world: string;
};

/**
 * Verifies all worlds of a data directory, one after the other, also while a server uses it. After each portion
 * of events it pauses for as long as the portion took, so that it uses at most half of a core while it replays.
 */
export async function scrubWorlds(directory: string, report: (result: ScrubResult) => void): Promise<void> {
  for (const world of databasesIn(worldsFolder(directory))) {
    const file = worldFilePath(directory, world);
    try {
      const { ok, to, rows, differences } = await verifyWorldFile(file, pausing());
      report({ world, ok, to, rows, differences });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // A world may be deleted in the meantime.
      if (!existsSync(file)) continue;
      const differences = [{ where: "file", message: error.message }];
      report({ world, ok: false, to: 0, rows: 0, differences });
    }
  }
}

function pausing(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    await sleep(Math.min(MAX_PAUSE_MS, performance.now() - startedAt));
    startedAt = performance.now();
  };
}
