import { messageOf } from "../../kernel/message-of.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../tables/format-version.ts";
import { asCorruptFile } from "../tables/journal-checksum.ts";
import { readHistoryRow } from "../tables/journal-row.ts";
import { prepareReader } from "../tables/stored-tables.ts";
import type { Head } from "./head-mark.ts";
import { readWorldRow } from "./read-world.ts";
import { connect, connectReadOnly } from "./sqlite-connection.ts";

/** Summary of a world's file; `error` when it cannot be read. */
type FileInfo = {
  readonly historyId: string;
  readonly seq: number;
  readonly now: number;
  readonly error?: string;
};

/** Turns a copy of a world's file into a snapshot: a single file, and reading it creates no `-wal` file. */
export function finalizeSnapshot(path: string): void {
  const sqlite = connect(path);
  try {
    sqlite.exec("PRAGMA journal_mode = DELETE");
  } finally {
    sqlite.close();
  }
}

/** Reads the summary of a file that is not open. */
export function readFileInfo(path: string): FileInfo {
  const unknown = { historyId: "", seq: 0, now: 0 };
  try {
    const sqlite = connectReadOnly(path);
    try {
      const isOlder = schemaVersionOf(sqlite) === 1;
      if (isOlder)
        return {
          ...unknown,
          ...sqlite.prepare<[], { seq: number; now: number }>("SELECT seq, now FROM world").get(),
        };
      const { seq = 0, now = 0 } = readWorldRow(sqlite) ?? {};
      return { historyId: readHistoryRow(sqlite).historyId, seq, now };
    } finally {
      sqlite.close();
    }
  } catch (error) {
    const cause = asCorruptFile(error);
    return { ...unknown, error: messageOf(cause) };
  }
}

/** The end of a file that is not open; `undefined` if it has no world, or is of an older release. */
export function readHead(path: string): Head | undefined {
  const sqlite = connectReadOnly(path);
  try {
    const row = schemaVersionOf(sqlite) === SCHEMA_VERSION ? readWorldRow(sqlite) : undefined;
    if (row === undefined) return undefined;
    const { seq, chain, now } = row;
    return { historyId: readHistoryRow(sqlite).historyId, seq, chain, now };
  } finally {
    sqlite.close();
  }
}

/** The version of the tables of a file. Throws if this release cannot open it. */
export function readTablesVersion(path: string): number {
  const sqlite = connectReadOnly(path);
  try {
    return schemaVersionOf(sqlite);
  } finally {
    sqlite.close();
  }
}

/** The Postgres version of each project that is not deleted, in a file that is not open. Throws if it cannot be read. */
export function readProjectVersions(path: string): number[] {
  const sqlite = connectReadOnly(path);
  try {
    // Files of early releases lack columns.
    const rows = sqlite.prepare<[], Record<string, unknown>>("SELECT * FROM projects").all();
    return rows.flatMap(({ pg_version: version, deleted_at: deletedAt = null }) =>
      typeof version === "number" && deletedAt === null ? [version] : [],
    );
  } finally {
    sqlite.close();
  }
}

/** The first version of the tables with references to the data of branches. */
const BRANCH_DATA_VERSION = 5;

/** References to the data of branches, in a file that is not open. Throws if the file cannot be read. */
export function readBranchData(path: string): BranchData[] {
  const sqlite = connectReadOnly(path);
  try {
    if (schemaVersionOf(sqlite) < BRANCH_DATA_VERSION) return [];
    return prepareReader<BranchData>(sqlite, "branchData")();
  } finally {
    sqlite.close();
  }
}
