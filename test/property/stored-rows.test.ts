import { copyFileSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { TABLE_NAMES } from "../../src/platform/world/tables.ts";
import type { World } from "../../src/platform/world/world.ts";
import { openStore, type Store } from "../../src/store/file/open-world.ts";
import { tableName } from "../../src/store/tables/stored-tables.ts";
import { SecretBox } from "../../src/worlds/secret-box.ts";
import type { History } from "../../src/worlds/world-storage.ts";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, type Double } from "../support/double/double.ts";
import { commandSequences } from "../support/model/commands.ts";
import {
  RANDOM_STARTS,
  recordRun,
  replayRun,
  splitAt,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { storageOf } from "../support/store/world-storage.ts";

const [ALL_IN_MEMORY, ON_DEMAND] = [Number.MAX_SAFE_INTEGER, 0];
const secretBox = new SecretBox();

/** A double of the world of a file. */
async function openDouble(path: string, fullCheckMaxBytes: number) {
  let store: Store | undefined;
  const open = (): History => {
    store = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER, fullCheckMaxBytes });
    return { ...store, secretBox };
  };
  const double = await createDouble({ ...RANDOM_STARTS, storage: storageOf(open) });
  return { double, world: () => (store as Store).world };
}

/** The rows of all tables of a file, in its order. */
function rowsOf(path: string): unknown {
  const sqlite = new BetterSqlite3(path, { readonly: true });
  try {
    // The encryption of secrets is random.
    return TABLE_NAMES.map((name) => [
      name,
      sqlite
        .prepare(`SELECT ${name === "secrets" ? "id" : "*"} FROM ${tableName(name)} ORDER BY rowid`)
        .all(),
    ]);
  } finally {
    sqlite.close();
  }
}

/** What a world knows of all rows without reading them, and the lists of its rows. */
function summaryOf(world: World) {
  const { projects, branches, computes, usage, computeTotals } = world;
  const ids = (rows: Iterable<{ readonly id: string }>) => Array.from(rows, ({ id }) => id);
  return {
    sizes: [projects, branches, computes, usage].map(({ size }) => size),
    keys: [projects, branches, computes, usage].map((table) => [...table.keys()]),
    totals: [{ ...computeTotals.byState }, computeTotals.activeCu],
    ofProjects: [...projects.keys()].map((id) => [
      [...branches.by("project", id).keys()],
      [...computes.by("project", id).keys()],
    ]),
    ofBranches: [...branches.keys()].map((id) => [
      [...branches.by("parent", id).keys()],
      [...computes.by("branch", id).keys()],
    ]),
    ofAccounts: [...world.accounts.values()].map(({ id }) =>
      (["account", "deleted", "owner"] as const).map((index) => [...projects.ordered(index, id).keys()]),
    ),
    rows: [ids(projects.values()), ids(branches.values()), ids(computes.values())],
  };
}

test("a world whose rows are read when they are used answers and changes like one that is in memory", async () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  await expectHolds(
    fc.asyncProperty(commandSequences({ keys: false }), share, async (commands, stop) => {
      const [before, after] = splitAt(await recordRun(commands), stop);
      const directory = temporaryDirectory();
      const doubles: Double[] = [];
      try {
        const paths = ["begun", "whole", "parts"].map((name) => `${directory.path}/${name}.sqlite`);
        const [begun = "", whole = "", parts = ""] = paths;
        const { double } = await openDouble(begun, ALL_IN_MEMORY);
        await replayRun(double, before);
        await double.close();
        copyFileSync(begun, whole);
        copyFileSync(begun, parts);
        const inMemory = await openDouble(whole, ALL_IN_MEMORY);
        doubles.push(inMemory.double);
        const onDemand = await openDouble(parts, ON_DEMAND);
        doubles.push(onDemand.double);
        expect(summaryOf(onDemand.world())).toEqual(summaryOf(inMemory.world()));
        expect(await onDemand.double.sim("GET", "/clock")).toEqual(
          await inMemory.double.sim("GET", "/clock"),
        );
        for (const one of doubles) await replayRun(one, after);
        expect(summaryOf(onDemand.world())).toEqual(summaryOf(inMemory.world()));
        expect(await journalOf(onDemand.double)).toEqual(await journalOf(inMemory.double));
        expect((await onDemand.double.sim("GET", "/invariants")).body).toEqual(
          (await inMemory.double.sim("GET", "/invariants")).body,
        );
        expect(await worldStateText(onDemand.double)).toBe(await worldStateText(inMemory.double));
        for (const one of doubles.splice(0)) await one.close();
        expect(rowsOf(parts)).toEqual(rowsOf(whole));
      } finally {
        for (const one of doubles) await one.close();
        directory.remove();
      }
    }),
    40,
  );
});
