import { copyFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { LARGE_HEAP, largeWorld } from "../environment/simulated-world.ts";
import { comparedFigure } from "../figure.ts";
import type { ReplayOptions, ReplayResult } from "../processes/replay.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const EVENTS_PER_SECOND = 600_000;

export const replay: Benchmark = {
  name: "replay",
  measures: "replay of a million events, compared with only reading and parsing them: events per second",
  async run(environment, progress) {
    const { file: original, title } = await largeWorld(environment, progress);
    const file = join(environment.directory(), "replay.sqlite");
    copyWithoutCheckpoints(original, file);
    const side = (source: ReplayOptions["source"]) => () =>
      eventsPerSecond(environment, { file, migrations: MIGRATIONS, source });
    const sides = { file: side("file"), memory: side("memory"), payloads: side("payloads") };
    await sides.payloads();
    const rounds = await measureInRounds(environment.quick ? 1 : 5, sides, progress);
    const same = (perSecond: number) => perSecond;
    return [
      comparedFigure(
        `replay from a file, ${title}`,
        "events/s",
        "only read",
        pairs(rounds, "file", "payloads", same),
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

/** A replay starts at the newest checkpoint, so without checkpoints it covers all events. */
function copyWithoutCheckpoints(original: string, copy: string): void {
  copyFileSync(original, copy);
  const sqlite = new BetterSqlite3(copy);
  sqlite.exec("DELETE FROM checkpoints");
  sqlite.pragma("wal_checkpoint(TRUNCATE)");
  sqlite.close();
}

/** Uses a new process for each replay, so that none collects the garbage of an earlier one. */
async function eventsPerSecond(environment: BenchEnvironment, options: ReplayOptions): Promise<number> {
  const child = await environment.start<ReplayResult>(
    [LARGE_HEAP, environment.script("replay"), JSON.stringify(options)],
    { hasChannel: false },
  );
  await environment.stop(child);
  const { events, elapsedMs } = child.ready;
  return events / (elapsedMs / 1_000);
}
