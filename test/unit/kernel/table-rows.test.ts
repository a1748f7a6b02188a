import { expect, test } from "vitest";
import { ChangeSet } from "../../../src/kernel/change-set.ts";
import { PastRows } from "../../../src/kernel/past-rows.ts";
import { Table } from "../../../src/kernel/table.ts";

type Seat = { readonly id: string; readonly row: string; readonly guest?: string };

/** Seats of which all but `b` are stored. */
function createSeats() {
  const stored = new Map<string, Seat>(
    ["a", "c", "d"].map((id) => [id, { id, row: id === "d" ? "y" : "x", guest: `guest of ${id}` }]),
  );
  const read: string[] = [];
  const take = (key: string): Seat => {
    read.push(key);
    const row = stored.get(key);
    if (row === undefined) throw new Error(`${key} cannot be read`);
    return row;
  };
  const changes = new ChangeSet();
  const observed: (string | undefined)[][] = [];
  const seats = new Table<Seat, "row">("seats", changes, {
    key: ({ id }) => id,
    indexes: { row: ({ row }) => row },
    observer: {
      replace: (before, after) => void observed.push([before?.id, after?.id]),
      clear: () => undefined,
    },
  });
  seats.readFrom({ read: take, readInOrder: () => take });
  for (const id of ["a", "b", "c", "d"]) {
    if (id === "b") seats.load({ id, row: "x" });
    else seats.loadStored({ id, row: id === "d" ? "y" : "x" });
  }
  return { seats, changes, read, stored, observed };
}

const idsOf = (rows: Iterable<Seat>) => Array.from(rows, ({ id }) => id);

test("stored rows are counted, indexed and observed without being read", () => {
  const { seats, read, observed } = createSeats();
  expect(seats.size).toBe(4);
  expect([...seats.keys()]).toEqual(["a", "b", "c", "d"]);
  expect([...seats.by("row", "x").keys()]).toEqual(["a", "b", "c"]);
  expect(seats.by("row", "y").size).toBe(1);
  expect(seats.get("e")).toBeUndefined();
  expect(observed).toEqual([
    [undefined, "a"],
    [undefined, "b"],
    [undefined, "c"],
    [undefined, "d"],
  ]);
  expect(idsOf(seats.loaded())).toEqual(["b"]);
  expect(read).toEqual([]);
});

test("a stored row is read once, and stays at its place", () => {
  const { seats, read, changes } = createSeats();
  for (let time = 0; time < 2; time += 1) expect(seats.get("c")).toMatchObject({ guest: "guest of c" });
  expect(idsOf(seats.by("row", "y").values())).toEqual(["d"]);
  expect(read).toEqual(["c", "d"]);
  expect(idsOf(seats.loaded())).toEqual(["b", "c", "d"]);
  expect(idsOf(seats.values())).toEqual(["a", "b", "c", "d"]);
  expect(changes.list).toEqual([]);
});

test("a pass over all rows reads stored ones and leaves them stored", () => {
  const { seats, read } = createSeats();
  expect(Array.from(seats.values(), ({ guest }) => guest)).toEqual([
    "guest of a",
    undefined,
    "guest of c",
    "guest of d",
  ]);
  expect([...seats.entries()].map(([key, { id }]) => key + id)).toEqual(["aa", "bb", "cc", "dd"]);
  expect(read).toEqual(["a", "c", "d", "a", "c", "d"]);
  expect(idsOf(seats.loaded())).toEqual(["b"]);
});

test("a row that changes during a pass is not read from where it is stored", () => {
  const { seats, read } = createSeats();
  const guests: (string | undefined)[] = [];
  for (const { id, guest } of seats.values()) {
    guests.push(guest);
    if (id === "a") {
      seats.set({ id: "c", row: "x", guest: "another" });
      seats.delete("d");
    }
  }
  expect(guests).toEqual(["guest of a", undefined, "another"]);
  // For the indexes, a row is read before it changes.
  expect(read).toEqual(["a", "c", "d"]);
});

test("stored rows can be changed, moved and deleted", () => {
  const { seats, changes, observed } = createSeats();
  seats.set({ id: "a", row: "y" });
  seats.delete("c");
  seats.retire(seats.get("d") as Seat);
  expect(idsOf(seats.values())).toEqual(["a", "b"]);
  expect([idsOf(seats.by("row", "x").values()), idsOf(seats.by("row", "y").values())]).toEqual([
    ["b"],
    ["a"],
  ]);
  expect(changes.list.map(({ key, value }) => [key, (value as Seat | undefined)?.row])).toEqual([
    ["a", "y"],
    ["c", undefined],
    ["d", "y"],
  ]);
  expect(observed.slice(4)).toEqual([
    ["a", "a"],
    ["c", undefined],
    ["d", undefined],
  ]);
  expect(seats.size).toBe(2);
});

test("the past has the stored value of a row that has changed since", () => {
  const { seats, changes } = createSeats();
  const past = new PastRows();
  changes.keepRows(past);
  expect(seats.get("a")).toBeDefined();
  seats.set({ id: "c", row: "y" });
  expect([...(past.changedIn<Seat>(seats)?.entries() ?? [])]).toEqual([
    ["c", { id: "c", row: "x", guest: "guest of c" }],
  ]);
});

test("stored rows are read in portions, in the order of the table", () => {
  const { seats, read } = createSeats();
  seats.get("c");
  expect(seats.readStored(1)).toBe(false);
  expect(read).toEqual(["c", "a"]);
  seats.set({ id: "e", row: "x" });
  expect([seats.readStored(5), seats.readStored(5)]).toEqual([true, true]);
  expect(read).toEqual(["c", "a", "d"]);
  expect(idsOf(seats.loaded())).toEqual(["a", "b", "c", "d", "e"]);
});

test("a row that cannot be read stays stored, and is read by the next attempt", () => {
  const { seats, stored } = createSeats();
  const row = stored.get("a") as Seat;
  stored.delete("a");
  expect(() => seats.get("a")).toThrow("a cannot be read");
  expect(() => seats.set({ id: "a", row: "y" })).toThrow("a cannot be read");
  expect(() => seats.toArray()).toThrow("a cannot be read");
  expect(() => seats.readStored(9)).toThrow("a cannot be read");
  expect(seats.by("row", "x").size).toBe(3);
  stored.set("a", row);
  while (!seats.readStored(9));
  expect(seats.get("a")).toBe(row);
});

test("a table that is emptied has no stored rows any more", () => {
  const { seats, read } = createSeats();
  seats.empty();
  expect([seats.size, seats.toArray(), seats.get("a"), seats.readStored(9)]).toEqual([
    0,
    [],
    undefined,
    true,
  ]);
  seats.set({ id: "a", row: "x" });
  expect(idsOf(seats.values())).toEqual(["a"]);
  expect(read).toEqual([]);
});

test("a row that is used before a pass reaches it ends the pass", () => {
  const { seats, read } = createSeats();
  expect(seats.readStored(1)).toBe(false);
  for (const id of ["c", "d"]) seats.get(id);
  expect(seats.readStored(1)).toBe(true);
  expect(read).toEqual(["a", "c", "d"]);
});
