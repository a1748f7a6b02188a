import { rmSync, writeFileSync } from "node:fs";
import { stringify } from "yaml";
import type { Failed, FailedStatement } from "../../scenario/file/failed-schema.ts";
import { escapePlaceholders } from "../../scenario/file/matrix.ts";
import { moveIntoPlace } from "../../store/file/atomic-file.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import { embedOrKeep } from "./embedded-world.ts";
import { type PendingWorld, writtenFiles } from "./failure-files.ts";
import { wrapFileErrors } from "./world-database.ts";

const LINE_WIDTH = 140;

/**
 * What failed, as a scenario file states it. `failedWorld` is put into the file, or goes beside it if it is large.
 * `others`: other worlds that may go beside it.
 */
export function failedEntry(
  failure: Pick<Failed, "by" | "what" | "message"> & {
    readonly sql?: readonly FailedStatement[] | undefined;
  },
  at: string,
  dropped: readonly string[],
  failedWorld: PendingWorld,
  others: readonly PendingWorld[] = [],
): Failed {
  const { by, what, message, sql = [] } = failure;
  const world = embedOrKeep(failedWorld);
  return {
    version: 1,
    ...{ by, what, at, message },
    ...(dropped.length === 0 ? {} : { dropped: [...dropped] }),
    ...(sql.length === 0 ? {} : { sql: [...sql] }),
    world,
    ...writtenFiles([failedWorld, ...others]),
  };
}

/** Writes a scenario file whole or not at all. Nothing in it is a placeholder of a matrix. */
export function writeScenarioFile(path: string, scenario: object): void {
  wrapFileErrors(path, () => {
    const temporary = createUnfinished(path);
    try {
      writeFileSync(temporary, stringify(escapePlaceholders(scenario), { lineWidth: LINE_WIDTH }));
      moveIntoPlace(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  });
}
