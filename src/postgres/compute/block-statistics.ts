import type { BlockCounts } from "../../platform/model/cache.ts";
import { type Row, type RunningEngine, SPARE_DATABASE } from "../engine/engine.ts";
import type { CountedReads } from "../rights/extension.ts";
import { RelationBlocks, type RelationState, withEvictions } from "./relation-blocks.ts";

/** Postgres looks at every file of a database for its size. */
const READ_DATABASES = `SELECT datname, blks_read AS read, pg_database_size(datid) AS size,
    datname NOT IN ('postgres', 'template0', 'template1', '${SPARE_DATABASE}') AS is_clients
  FROM pg_stat_database WHERE datid <> 0`;

/**
 * The relations of clients. A: catalogs are in the cache from the start, because each start of a compute reads them.
 * A client that has locked a relation exclusively is not waited for.
 */
const READ_RELATIONS = `SET LOCAL lock_timeout = '50ms';
  SELECT oid AS id, relfilenode AS file, pg_relation_size(oid) / current_setting('block_size')::int AS blocks,
    pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid) AS read
  FROM pg_class WHERE relkind IN ('r', 'i', 't', 'm') AND oid >= 16384 AND relpersistence <> 't'`;

export type DataSample = {
  /** The blocks read and written since the previous sample; absent if there were none. */
  readonly blocks?: BlockCounts;
  /** The size of the databases of clients. */
  readonly logicalSizeBytes: number;
};

type Database = { read: number; size: number; readonly relations: RelationBlocks };

/**
 * Derives the reads of the local file cache from the statistics of an engine: what Postgres does not find in its
 * shared buffers, it reads through that cache.
 */
export class BlockStatistics {
  readonly #databases = new Map<string, Database>();
  #engine: RunningEngine | undefined;
  #isReplica = false;

  /** An engine has started. `isCold`: its compute has, too, so that the cache is empty. */
  async begin(
    engine: RunningEngine,
    { isCold, isReplica }: { isCold: boolean; isReplica: boolean },
  ): Promise<void> {
    this.#engine = engine;
    this.#isReplica = isReplica;
    if (isCold) this.#databases.clear();
    for (const row of await engine.query(READ_DATABASES)) {
      const database = this.#database(row);
      database.read = Number(row["read"]);
      database.size = Number(row["size"]);
      if (row["is_clients"] !== "t") continue;
      const states = await relationsOf(engine, nameOf(row));
      if (states !== undefined) database.relations.begin(states, isCold);
    }
  }

  /** `capacity`: of the cache, in blocks. `undefined` before the first start. */
  async sample(capacity: number): Promise<DataSample | undefined> {
    const engine = this.#engine;
    if (engine === undefined) return undefined;
    let [hits, misses, writes, logicalSizeBytes] = [0, 0, 0, 0];
    for (const row of await engine.query(READ_DATABASES)) {
      const size = Number(row["size"]);
      if (row["is_clients"] === "t") logicalSizeBytes += size;
      const counted = await this.#count(engine, row);
      hits += counted.hits;
      misses += counted.misses;
      writes += counted.writes;
    }
    const cached = [...this.#databases.values()].reduce((sum, { relations }) => sum + relations.cached, 0);
    const blocks = withEvictions({ hits, misses, writes }, cached, capacity);
    return hits + misses + writes === 0 ? { logicalSizeBytes } : { blocks, logicalSizeBytes };
  }

  /** Reads that the view of the extension must not count again, by database. */
  counted(): CountedReads {
    return Object.fromEntries(
      [...this.#databases].map(([name, { relations }]) => [name, relations.counted()]),
    );
  }

  async #count(engine: RunningEngine, row: Row): Promise<BlockCounts> {
    const database = this.#database(row);
    const [size, read] = [Number(row["size"]), Number(row["read"])];
    if (size === database.size && read === database.read) return { hits: 0, misses: 0, writes: 0 };
    const states = row["is_clients"] === "t" ? await relationsOf(engine, nameOf(row)) : [];
    // The next sample counts these, too.
    if (states === undefined) return { hits: 0, misses: 0, writes: 0 };
    const counted = database.relations.count(states, !this.#isReplica);
    const catalogReads = Math.max(0, read - database.read - counted.read);
    database.size = size;
    database.read = read;
    return { hits: counted.hits + catalogReads, misses: counted.misses, writes: counted.writes };
  }

  #database(row: Row): Database {
    const name = nameOf(row);
    const known = this.#databases.get(name);
    if (known !== undefined) return known;
    const database = { read: 0, size: 0, relations: new RelationBlocks() };
    this.#databases.set(name, database);
    return database;
  }
}

/** `undefined` if they cannot be read now. */
async function relationsOf(engine: RunningEngine, database: string): Promise<RelationState[] | undefined> {
  // The next sample counts these reads: a new client waits for this one.
  if (engine.isBarredFromDatabases) return undefined;
  try {
    const rows = await engine.inDatabase(database, (query) => query(READ_RELATIONS));
    return rows.map((row) => ({
      id: row["id"] ?? "",
      file: row["file"] ?? "",
      read: Number(row["read"]),
      blocks: Number(row["blocks"]),
    }));
  } catch {
    // Its owner allows no connections, it was dropped, or a client has locked a table.
    return undefined;
  }
}

function nameOf(row: Row): string {
  return row["datname"] ?? "";
}
