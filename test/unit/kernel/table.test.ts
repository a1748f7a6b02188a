import fc from "fast-check";
import { expect, test } from "vitest";
import { ALL_ROWS, ChangeSet } from "../../../src/kernel/change-set.ts";
import { Table } from "../../../src/kernel/table.ts";
import { expectHolds } from "../../support/properties/properties.ts";

type Seat = { readonly id: string; readonly row?: string; readonly number: number; readonly guest?: string };

function createSeats() {
  const changes = new ChangeSet();
  const seats = new Table<Seat, "row">("seats", changes, {
    key: ({ id }) => id,
    indexes: { row: ({ row }) => row },
    constrained: ({ row, number }) => `${row}/${number}`,
  });
  const recordedChanges = () => changes.list.map(({ table, key, value }) => [table, key, value]);
  const inRow = (row: string) => [...seats.by("row", row).values()].map(({ id }) => id);
  return { changes, seats, recordedChanges, inRow };
}

const seat = (id: string, number: number, row?: string, guest?: string): Seat => ({
  id,
  number,
  ...(row === undefined ? {} : { row }),
  ...(guest === undefined ? {} : { guest }),
});

test("rows are found by key and stay in the order of their creation", () => {
  const { seats } = createSeats();
  for (const id of ["c", "a", "b"]) seats.set(seat(id, 1, "x"));
  seats.set(seat("c", 2, "x"));
  expect([...seats.values()].map(({ id, number }) => [id, number])).toEqual([
    ["c", 2],
    ["a", 1],
    ["b", 1],
  ]);
  expect(seats.size).toBe(3);
  expect(seats.get("a")?.number).toBe(1);
  expect(seats.get("none")).toBeUndefined();
});

test("an index is updated when rows are added, changed, moved to another group and deleted", () => {
  const { seats, inRow } = createSeats();
  seats.set(seat("a", 1, "x"));
  seats.set(seat("b", 2, "x"));
  seats.set(seat("c", 3));
  expect([inRow("x"), inRow("y"), inRow("undefined")]).toEqual([["a", "b"], [], []]);
  seats.set(seat("a", 9, "x"));
  expect(inRow("x")).toEqual(["a", "b"]);
  expect([...seats.by("row", "x").values()][0]?.number).toBe(9);
  seats.set(seat("a", 9, "y"));
  seats.set(seat("c", 3, "x"));
  expect([inRow("x"), inRow("y")]).toEqual([["b", "c"], ["a"]]);
  seats.set(seat("b", 2));
  seats.delete("c");
  expect(inRow("x")).toEqual([]);
  expect(seats.by("row", "x").size).toBe(0);
});

test("an index group without members is empty, even after rows joined another group", () => {
  const { seats, inRow } = createSeats();
  expect(inRow("nowhere")).toEqual([]);
  seats.set(seat("a", 1, "x"));
  expect(inRow("nowhere")).toEqual([]);
  expect(seats.by("row", "nowhere").size).toBe(0);
});

test("a row that changes twice is recorded once, with its last value, at its first place", () => {
  const { seats, recordedChanges } = createSeats();
  seats.set(seat("a", 1, "x"));
  seats.set(seat("b", 2, "x"));
  seats.set(seat("a", 1, "x", "Ada"));
  expect(recordedChanges()).toEqual([
    ["seats", "a", seat("a", 1, "x", "Ada")],
    ["seats", "b", seat("b", 2, "x")],
  ]);
});

test("two rows that swap a unique value through a third are recorded step by step, without a conflict", () => {
  const { changes, seats, recordedChanges } = createSeats();
  seats.set(seat("a", 1, "x"));
  seats.set(seat("b", 2, "x"));
  changes.clear();
  seats.set(seat("a", 3, "x"));
  seats.set(seat("b", 1, "x"));
  seats.set(seat("a", 2, "x"));
  expect(recordedChanges()).toEqual([
    ["seats", "a", seat("a", 3, "x")],
    ["seats", "b", seat("b", 1, "x")],
    ["seats", "a", seat("a", 2, "x")],
  ]);
  const taken = new Map([
    ["a", "x/1"],
    ["b", "x/2"],
  ]);
  for (const { key, value } of changes.list) {
    const place = `${(value as Seat).row}/${(value as Seat).number}`;
    expect([...taken].some(([other, at]) => other !== key && at === place)).toBe(false);
    taken.set(key, place);
  }
});

test("a unique value that one row gives up and another takes is recorded in that order", () => {
  const { changes, seats, recordedChanges } = createSeats();
  seats.set(seat("a", 1, "x"));
  changes.clear();
  seats.set(seat("a", 1, "x", "Ada"));
  seats.delete("a");
  seats.set(seat("b", 1, "x"));
  expect(recordedChanges().map(([, key, value]) => [key, value === undefined])).toEqual([
    ["a", false],
    ["a", true],
    ["b", false],
  ]);
});

test("a row that is created again after its deletion is recorded after the deletion", () => {
  const { changes, seats, recordedChanges } = createSeats();
  seats.set(seat("a", 1, "x"));
  changes.clear();
  seats.delete("a");
  seats.set(seat("a", 1, "x", "Ada"));
  expect(recordedChanges()).toEqual([
    ["seats", "a", undefined],
    ["seats", "a", seat("a", 1, "x", "Ada")],
  ]);
});

test("deleting a missing row records nothing", () => {
  const { seats, recordedChanges } = createSeats();
  seats.delete("none");
  expect(recordedChanges()).toEqual([]);
});

test("loading a row adds it without recording a change", () => {
  const { seats, recordedChanges, inRow } = createSeats();
  seats.load(seat("a", 1, "x"));
  expect(inRow("x")).toEqual(["a"]);
  expect(recordedChanges()).toEqual([]);
});

test("a retired row is removed from memory, and its last value is recorded", () => {
  const { changes, seats, recordedChanges, inRow } = createSeats();
  seats.set(seat("a", 1, "x"));
  changes.clear();
  seats.retire(seat("a", 1, "x", "gone home"));
  expect([seats.get("a"), seats.size, inRow("x")]).toEqual([undefined, 0, []]);
  expect(recordedChanges()).toEqual([["seats", "a", seat("a", 1, "x", "gone home")]]);
  seats.retire(seat("never seen", 7, "x"));
  expect(recordedChanges()).toHaveLength(2);
  expect(seats.size).toBe(0);
});

test("emptying a table is recorded, and later changes are recorded separately from earlier ones", () => {
  const { seats, recordedChanges, inRow } = createSeats();
  seats.set(seat("a", 1, "x"));
  seats.empty();
  seats.set(seat("a", 1, "x", "new"));
  expect(recordedChanges()).toEqual([
    ["seats", "a", seat("a", 1, "x")],
    ["seats", ALL_ROWS, undefined],
    ["seats", "a", seat("a", 1, "x", "new")],
  ]);
  expect([seats.size, inRow("x")]).toEqual([1, ["a"]]);
});

test("tables share one list of changes without mixing their keys", () => {
  const changes = new ChangeSet();
  const one = new Table<Seat>("one", changes, { key: ({ id }) => id });
  const two = new Table<Seat>("two", changes, { key: ({ id }) => id });
  one.set(seat("a", 1));
  two.set(seat("a", 2));
  one.set(seat("a", 3));
  expect(changes.list.map(({ table, value }) => [table, (value as Seat).number])).toEqual([
    ["one", 3],
    ["two", 2],
  ]);
  changes.clear();
  expect(changes.list).toEqual([]);
  two.set(seat("a", 4));
  expect(changes.list).toHaveLength(1);
});

test("a group lists its members in the order in which they joined, from one to two, back to one, and to none", () => {
  const { seats, inRow } = createSeats();
  const { size } = seats.by("row", "x");
  expect([size, inRow("x")]).toEqual([0, []]);
  seats.set(seat("a", 1, "x"));
  expect([seats.by("row", "x").size, inRow("x"), [...seats.by("row", "x").keys()]]).toEqual([
    1,
    ["a"],
    ["a"],
  ]);
  seats.set(seat("a", 2, "x"));
  seats.set(seat("b", 1, "x"));
  expect([seats.by("row", "x").size, inRow("x")]).toEqual([2, ["a", "b"]]);
  seats.delete("a");
  expect(seats.by("row", "x").toArray()).toEqual([seat("b", 1, "x")]);
  seats.set(seat("a", 1, "x"));
  expect(inRow("x")).toEqual(["b", "a"]);
  seats.delete("b");
  seats.set(seat("a", 1, "y"));
  expect([seats.by("row", "x").size, inRow("x"), inRow("y")]).toEqual([0, [], ["a"]]);
});

test.each([1, 2])("a group that was read before its %i rows left is empty", (count) => {
  const { seats } = createSeats();
  const all = ["a", "b"].slice(0, count);
  for (const id of all) seats.set(seat(id, 1, "x"));
  const group = seats.by("row", "x");
  expect(group.toArray()).toHaveLength(count);
  for (const id of all) seats.delete(id);
  expect([group.size, [...group.keys()], [...group.values()], group.toArray()]).toEqual([0, [], [], []]);
});

test("emptying a table empties its indexes", () => {
  const { seats } = createSeats();
  for (const id of ["a", "b"]) seats.set(seat(id, 1, "x"));
  seats.empty();
  expect([seats.by("row", "x").size, seats.by("row", "x").toArray()]).toEqual([0, []]);
});

test("rows are copied and listed with their keys", () => {
  const { seats } = createSeats();
  const rows = [seat("b", 1, "x"), seat("a", 2)];
  for (const row of rows) seats.set(row);
  expect(seats.toArray()).toEqual(rows);
  expect([...seats.entries()]).toEqual([
    ["b", rows[0]],
    ["a", rows[1]],
  ]);
  expect(seats.keyOf(seat("c", 3))).toBe("c");
});

test("an index that does not exist is an error with the names of the table and the index", () => {
  const { seats } = createSeats();
  expect(() => seats.by("aisle" as "row", "x")).toThrow("table seats has no index aisle");
});

test("a retired row that gives up its unique value is recorded separately", () => {
  const { seats, recordedChanges } = createSeats();
  seats.set(seat("a", 1, "x"));
  seats.retire(seat("a", 2, "x"));
  expect(recordedChanges()).toEqual([
    ["seats", "a", seat("a", 1, "x")],
    ["seats", "a", seat("a", 2, "x")],
  ]);
});

test("a table that is not tracked records nothing", () => {
  const { changes, seats, recordedChanges } = createSeats();
  changes.trackOnly([]);
  seats.set(seat("a", 1, "x"));
  seats.retire(seat("a", 1, "x"));
  seats.set(seat("b", 1, "x"));
  seats.delete("b");
  seats.empty();
  expect([seats.isTracked, recordedChanges()]).toEqual([false, []]);
});

test("an observer sees each row before and after a change", () => {
  const seen: unknown[] = [];
  const seats = new Table<Seat>("seats", new ChangeSet(), {
    key: ({ id }) => id,
    observer: {
      replace: (before, after) => seen.push([before?.number, after?.number]),
      clear: () => seen.push("clear"),
    },
  });
  seats.set(seat("a", 1));
  seats.load(seat("a", 2));
  seats.delete("a");
  seats.delete("a");
  seats.empty();
  expect(seen).toEqual([[undefined, 1], [1, 2], [2, undefined], "clear"]);
});

test("an index that is built when it is first read has the same groups in the same order, whenever that is", async () => {
  const rowOf = ({ id }: Seat) => id.slice(0, 1);
  const ids = fc.constantFrom("x1", "x2", "x3", "y1", "y2");
  const change = fc.tuple(
    fc.constantFrom("set", "load", "delete", "retire", "empty", "read"),
    ids,
    fc.nat(9),
  );
  await expectHolds(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const kept = new Table<Seat, "row">("seats", new ChangeSet(), {
        key: ({ id }) => id,
        indexes: { row: rowOf },
      });
      const built = new Table<Seat, "row">("seats", new ChangeSet(), {
        key: ({ id }) => id,
        indexes: { row: { key: rowOf, builtWhenRead: true } },
      });
      const groups = (seats: typeof kept) =>
        ["x", "y"].map((row) => [seats.by("row", row).size, seats.by("row", row).toArray()]);
      for (const [kind, id, number] of changes) {
        for (const seats of [kept, built]) {
          if (kind === "set" || kind === "load" || kind === "retire") seats[kind](seat(id, number));
          else if (kind === "delete") seats.delete(id);
          else if (kind === "empty") seats.empty();
        }
        if (kind === "read") expect(groups(built)).toEqual(groups(kept));
      }
      expect(groups(built)).toEqual(groups(kept));
    }),
    200,
  );
});
