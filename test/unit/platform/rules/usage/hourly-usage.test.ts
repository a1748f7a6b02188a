import { describe, expect, test } from "vitest";
import { ALL_ROWS, ChangeSet } from "../../../../../src/kernel/change-set.ts";
import type { HourlyUsage } from "../../../../../src/platform/model/usage-totals.ts";
import { HourlyUsageTable } from "../../../../../src/platform/world/hourly-usage.ts";

const ONE = { activeMs: 60, cuMs: 15 };
const row = (of: string, hour: number, times = 1) => ({ of, hour, activeMs: times * 60, cuMs: times * 15 });

function tableWith(...hours: readonly number[]) {
  const changes = new ChangeSet();
  const table = new HourlyUsageTable(changes);
  for (const hour of hours) table.add("br-a", "hourly", hour, ONE);
  return { changes, table };
}

test("usage that is added to a period adds up; a period without usage has no row", () => {
  const { table } = tableWith(7, 7);
  table.add("br-a", "hourly", 8, { activeMs: 0, cuMs: 0 });
  expect(table.toArray()).toEqual([row("br-a", 7, 2)]);
  expect(table.size).toBe(1);
});

test("rows of hours, days and months are separate, and have the suffix of their length", () => {
  const { table } = tableWith(24);
  table.add("br-a", "daily", 24, ONE);
  table.add("br-a", "monthly", 24, ONE);
  table.add("br-b", "hourly", 24, ONE);
  const rows = [row("br-a", 24), row("br-a#day", 24), row("br-a#month", 24), row("br-b", 24)];
  expect(table.toArray()).toEqual(rows);
  expect(table.entries().map(([key]) => key)).toEqual(["br-a/24", "br-a#day/24", "br-a#month/24", "br-b/24"]);
  expect(table.size).toBe(4);
  expect(table.get("br-a", "daily", 24)).toEqual(row("br-a#day", 24));
  expect(table.get("br-b", "daily", 24)).toBeUndefined();
});

test("a stored row is loaded to its period without a change", () => {
  const { changes, table } = tableWith();
  for (const of of ["br-a", "br-a#day", "br-a#month"]) table.load(row(of, 48));
  for (const granularity of ["hourly", "daily", "monthly"] as const)
    expect(table.get("br-a", granularity, 48)).toMatchObject(ONE);
  expect(changes.list).toEqual([]);
});

test("rows are in the order of their hours, whatever the order in which they are added", () => {
  const { table } = tableWith(9, 5, 7, 5, 11, 6);
  expect(table.toArray().map(({ hour }) => hour)).toEqual([5, 6, 7, 9, 11]);
  expect(table.get("br-a", "hourly", 5)).toEqual(row("br-a", 5, 2));
  expect(table.get("br-a", "hourly", 8)).toBeUndefined();
  expect(table.get("br-a", "hourly", 12)).toBeUndefined();
});

test("rows before an hour are deleted, and others of the same branch stay", () => {
  const { changes, table } = tableWith(5, 6, 7, 8);
  table.add("br-a", "daily", 5, ONE);
  changes.clear();
  table.deleteBefore("br-a", "hourly", 7);
  expect(table.toArray().map(({ of, hour }) => [of, hour])).toEqual([
    ["br-a", 7],
    ["br-a", 8],
    ["br-a#day", 5],
  ]);
  expect(changes.list).toMatchObject([
    { table: "hourlyUsage", key: "br-a/5", value: undefined },
    { table: "hourlyUsage", key: "br-a/6", value: undefined },
  ]);
  table.deleteBefore("br-a", "hourly", 100);
  table.deleteBefore("br-none", "hourly", 100);
  expect(table.toArray()).toEqual([row("br-a#day", 5)]);
  table.add("br-a", "hourly", 9, ONE);
  expect(table.get("br-a", "hourly", 9)).toEqual(row("br-a", 9));
});

test("a deleted branch has no rows, and may get new ones", () => {
  const { table } = tableWith(5, 6);
  table.add("br-a", "monthly", 0, ONE);
  table.deleteFor("br-a");
  expect([table.toArray(), table.size]).toEqual([[], 0]);
  table.add("br-a", "hourly", 3, ONE);
  expect(table.toArray()).toEqual([row("br-a", 3)]);
});

test("each change is reported with its newest value, if the journal stores the table", () => {
  const { changes, table } = tableWith(5, 5, 6);
  const reported = [
    { table: "hourlyUsage", key: "br-a/5", value: row("br-a", 5, 2) },
    { table: "hourlyUsage", key: "br-a/6", value: row("br-a", 6) },
  ];
  expect(changes.list).toMatchObject(reported);
  changes.clear();
  changes.trackOnly(["hourlyUsage"]);
  table.add("br-a", "hourly", 6, ONE);
  expect(changes.list).toMatchObject([{ key: "br-a/6", value: row("br-a", 6, 2) }]);
  changes.clear();
  changes.trackOnly(["projects"]);
  table.add("br-a", "hourly", 6, ONE);
  table.deleteBefore("br-a", "hourly", 6);
  expect(changes.list).toEqual([]);
});

test("an emptied table reports one change and has no rows", () => {
  const { changes, table } = tableWith(5, 6);
  changes.clear();
  table.empty();
  expect(changes.list).toMatchObject([{ table: "hourlyUsage", key: ALL_ROWS, value: undefined }]);
  expect([table.toArray(), table.size, table.get("br-a", "hourly", 5)]).toEqual([[], 0, undefined]);
});

test("a copy does not change with the table", () => {
  const { table } = tableWith(5, 6, 7);
  const copy = table.copy();
  const rows = [row("br-a", 5), row("br-a", 6), row("br-a", 7)];
  table.add("br-a", "hourly", 6, ONE);
  table.add("br-a", "hourly", 8, ONE);
  table.add("br-a", "hourly", 4, ONE);
  table.deleteBefore("br-a", "hourly", 8);
  expect([...copy]).toEqual(rows);
  expect(JSON.parse(JSON.stringify(copy))).toEqual(rows);
  expect([...table.copy()]).toEqual([row("br-a", 8)]);
});

test("the rows of a branch are those of its hours, days and months, without expired ones", () => {
  const { table } = tableWith(7, 8, 9);
  table.add("br-a", "daily", 0, ONE);
  table.add("br-a", "monthly", 0, ONE);
  table.add("br-b", "hourly", 7, ONE);
  table.deleteBefore("br-a", "hourly", 8);
  expect(table.rowsOf("br-a")).toEqual([
    row("br-a", 8),
    row("br-a", 9),
    row("br-a#day", 0),
    row("br-a#month", 0),
  ]);
  expect(table.rowsOf("br-none")).toEqual([]);
});

test("a table whose changes are not stored records none", () => {
  const { changes, table } = tableWith();
  changes.trackOnly([]);
  table.add("br-a", "hourly", 7, ONE);
  table.deleteBefore("br-a", "hourly", 9);
  expect([table.size, changes.list]).toEqual([0, []]);
});

describe("stored rows", () => {
  function storedTable(stored: Readonly<Record<string, readonly HourlyUsage[]>>) {
    const { changes, table } = tableWith();
    const reads: string[] = [];
    table.loadLater({
      ids: Object.keys(stored),
      size: Object.values(stored).flat().length,
      rowsOf(id) {
        reads.push(id);
        return stored[id] ?? [];
      },
    });
    return { changes, table, reads };
  }
  const stored = { "br-a": [row("br-a", 5), row("br-a#day", 0)], "br-b": [row("br-b", 5)], "br-c": [] };

  test("count as rows, and are read once, when their branch is needed", () => {
    const { changes, table, reads } = storedTable(stored);
    expect([table.size, reads]).toEqual([3, []]);
    expect(table.get("br-a", "hourly", 5)).toEqual(row("br-a", 5));
    expect(table.rowsOf("br-a")).toEqual(stored["br-a"]);
    expect(table.get("br-new", "hourly", 5)).toBeUndefined();
    expect([table.size, reads]).toEqual([3, ["br-a"]]);
    expect(changes.list).toEqual([]);
  });

  test("are read before their branch changes", () => {
    const { changes, table, reads } = storedTable(stored);
    table.add("br-a", "hourly", 5, ONE);
    table.deleteBefore("br-b", "hourly", 9);
    expect(table.toArray()).toEqual([row("br-a", 5, 2), row("br-a#day", 0)]);
    expect(changes.list.map(({ key }) => key)).toEqual(["br-a/5", "br-b/5"]);
    expect(reads).toEqual(["br-a", "br-b", "br-c"]);
  });

  test("of a deleted branch are deleted, and not read again", () => {
    const { changes, table, reads } = storedTable(stored);
    table.deleteFor("br-a");
    expect(changes.list.map(({ key }) => key)).toEqual(["br-a/5", "br-a#day/0"]);
    expect([table.get("br-a", "hourly", 5), table.size, reads]).toEqual([undefined, 1, ["br-a"]]);
  });

  test("are read in portions", () => {
    const { table, reads } = storedTable(stored);
    expect([table.read(2), reads]).toEqual([false, ["br-a", "br-b"]]);
    expect([table.read(2), reads]).toEqual([true, ["br-a", "br-b", "br-c"]]);
    expect(table.toArray()).toHaveLength(3);
    expect(reads).toHaveLength(3);
  });

  test("are not read after the table was emptied", () => {
    const { table, reads } = storedTable(stored);
    table.empty();
    expect([table.size, table.toArray(), reads]).toEqual([0, [], []]);
  });

  test("that cannot be read are not taken for rows that do not exist", () => {
    const { table } = tableWith();
    const fail = () => {
      throw new Error("damaged");
    };
    table.loadLater({ ids: ["br-a"], size: 1, rowsOf: fail });
    for (let attempt = 0; attempt < 2; attempt += 1) expect(() => table.rowsOf("br-a")).toThrow("damaged");
  });
});
