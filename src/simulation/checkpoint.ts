import type { SimTime } from "../kernel/time.ts";
import type { WorldSettings } from "../platform/model/world-settings.ts";
import { JOURNALED_TABLES, TABLES, type TablesWith } from "../platform/world/tables.ts";
import { emptyWorld, NO_NUMBERS, type Numbers, type World } from "../platform/world/world.ts";

/** The world after an event, as plain data. A replay can start from it, so earlier history can be truncated. */
export type Checkpoint = {
  readonly seq: number;
  readonly at: SimTime;
  readonly settings: WorldSettings;
  readonly numbers: Numbers;
  /** The rows of each table, in order of creation, without finished operations. */
  readonly tables: Readonly<Record<string, Iterable<unknown>>>;
};

export function takeCheckpoint(world: World): Checkpoint {
  return {
    seq: world.seq,
    at: world.at,
    settings: world.settings,
    numbers: { ...world.numbers },
    tables: Object.fromEntries(JOURNALED_TABLES.map((name) => [name, rowsOf(world, name)])),
  };
}

function rowsOf(world: World, name: (typeof JOURNALED_TABLES)[number]): Iterable<unknown> {
  if (TABLES[name].checkpoint === "rows") return world[name].toArray();
  return world[name as TablesWith<{ checkpoint: "copied" }>].copy();
}

/** Rows loaded in one step: a millisecond of work. */
const ROWS_PER_STEP = 500;

/** The world of a checkpoint, without the rows outside history. */
export function worldFromCheckpoint(checkpoint: Checkpoint): World {
  const steps = worldFromCheckpointInSteps(checkpoint);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Builds the world of a checkpoint in steps. Other work can run between steps. */
export function* worldFromCheckpointInSteps({
  seq,
  at,
  settings,
  numbers,
  tables,
}: Checkpoint): Generator<undefined, World> {
  const world = emptyWorld();
  world.seq = seq;
  world.at = at;
  world.settings = settings;
  world.numbers = { ...NO_NUMBERS, ...numbers };
  for (const name of JOURNALED_TABLES) {
    const table: { load(row: unknown): void } = world[name] as never;
    let count = 0;
    for (const row of tables[name] ?? []) {
      table.load(row);
      count += 1;
      if (count % ROWS_PER_STEP === 0) yield;
    }
  }
  return world;
}
