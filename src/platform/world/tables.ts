import type { World } from "./world.ts";

/** The tables of a world, by the name under which changes of their rows are recorded. */
export type TableName = {
  [K in keyof World]: World[K] extends { load(row: never): void } ? K : never;
}[keyof World];

type TableSpec =
  | {
      /** A replay of the events produces its rows. */
      readonly journaled: true;
      /** Effect of a reset of the world on its rows; `partly kept` needs a rule in evolve.ts. */
      readonly onReset: "kept" | "emptied" | "partly kept";
      /** `copied`: copying all rows would block, so the table makes a copy that is read later. */
      readonly checkpoint: "rows" | "copied";
    }
  /** Durable, but not described by events. Not in checkpoints; `verify` only checks its checksums. */
  | { readonly journaled: false; readonly onReset: "kept" | "emptied" };

/**
 * Properties of each table. A table of `World` that is missing here does not compile.
 * The order is that of the tables in a checkpoint, which is stored: add at the end.
 */
export const TABLES = {
  accounts: { journaled: true, onReset: "kept", checkpoint: "rows" },
  apiKeys: { journaled: true, onReset: "partly kept", checkpoint: "rows" },
  projects: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  branches: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  computes: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  connections: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  operations: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  scheduledActivities: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  usage: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  hourlyUsage: { journaled: true, onReset: "emptied", checkpoint: "copied" },
  branchSnapshots: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  records: { journaled: true, onReset: "partly kept", checkpoint: "rows" },
  faults: { journaled: true, onReset: "emptied", checkpoint: "rows" },
  revokedHashes: { journaled: true, onReset: "kept", checkpoint: "rows" },
  apiKeyUses: { journaled: false, onReset: "kept" },
  secrets: { journaled: false, onReset: "kept" },
  branchData: { journaled: false, onReset: "emptied" },
} as const satisfies Readonly<Record<TableName, TableSpec>>;

/** The tables whose specification has these properties. */
export type TablesWith<Spec extends object> = {
  [K in TableName]: (typeof TABLES)[K] extends Spec ? K : never;
}[TableName];

export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[];

export const JOURNALED_TABLES = TABLE_NAMES.filter((name) => TABLES[name].journaled) as readonly TablesWith<{
  journaled: true;
}>[];

export const UNJOURNALED_TABLES = TABLE_NAMES.filter(
  (name) => !TABLES[name].journaled,
) as readonly TablesWith<{ journaled: false }>[];

/** The tables that a reset empties. */
export const EMPTIED_TABLES = TABLE_NAMES.filter(
  (name) => TABLES[name].onReset === "emptied",
) as readonly TablesWith<{ onReset: "emptied" }>[];
