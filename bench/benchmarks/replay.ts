import { copyFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { LARGE_HEAP, largeWorld } from "../environment/simulated-world.ts";
import { comparedFigure } from "../figure.ts";
import type { ReplayOptions, ReplayResult } from "../processes/replay.ts";
import { inRounds, pairs } from "../rounds.ts";

const EVENTS_PER_SECOND = 300_000;

export const replay: Benchmark = {
  name: "replay",
  measures:
    "folding a history of a million events: events a second, against reading and parsing the same rows",
  async run(environment, progress) {
    const { file: original, title } = await largeWorld(environment, progress);
    const file = join(environment.directory(), "replay.sqlite");
    copyWithoutCheckpoints(original, file);
    const side = (side: ReplayOptions["side"]) => () =>
      eventsPerSecond(environment, { file, migrations: MIGRATIONS, side });
    const sides = { file: side("file"), memory: side("memory"), rows: side("rows") };
    await sides.rows();
    const rounds = await inRounds(environment.quick ? 1 : 5, sides, progress);
    const same = (perSecond: number) => perSecond;
    return [
      comparedFigure(
        `replay from a file, ${title}`,
        "events/s",
        "rows read",
        pairs(rounds, "file", "rows", same),
        {
          of: "value",
          atLeast: EVENTS_PER_SECOND,
        },
      ),
      comparedFigure(
        "replay from memory",
        "events/s",
        "from the file",
        pairs(rounds, "memory", "file", same),
      ),
    ];
  },
};

/** A checkpoint would be where the replay begins. */
function copyWithoutCheckpoints(original: string, copy: string): void {
  copyFileSync(original, copy);
  const sqlite = new BetterSqlite3(copy);
  sqlite.exec("DELETE FROM checkpoints");
  sqlite.pragma("wal_checkpoint(TRUNCATE)");
  sqlite.close();
}

/** In a process of its own: what one replay has left in memory is not for the next one to collect. */
async function eventsPerSecond(environment: BenchEnvironment, options: ReplayOptions): Promise<number> {
  const child = await environment.start<ReplayResult>(
    [LARGE_HEAP, environment.script("replay"), JSON.stringify(options)],
    { hasChannel: false },
  );
  await environment.stop(child);
  const { events, elapsedMs } = child.ready;
  return events / (elapsedMs / 1_000);
}
