import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeSet } from "../../src/kernel/change-set.ts";
import { PastRows } from "../../src/kernel/past-rows.ts";
import { PastTable } from "../../src/kernel/past-table.ts";
import { Table } from "../../src/kernel/table.ts";
import { expectHolds } from "../support/properties/properties.ts";

type Guest = { readonly id: string; readonly room: string; readonly number: number; readonly visits: number };

function createGuests() {
  const changes = new ChangeSet();
  const guests = new Table<Guest, "room" | "arrival">("guests", changes, {
    key: ({ id }) => id,
    indexes: {
      room: ({ room }) => room,
      arrival: { key: ({ room }) => (room === "b" ? undefined : "all"), order: ({ number }) => number },
    },
  });
  return { changes, guests };
}

const IDS = ["1", "2", "3", "4", "5", "6"];
const id = fc.constantFrom(...IDS);
const change = fc.oneof(
  fc.record({ set: id, room: fc.constantFrom("a", "b", "c") }),
  fc.record({ remove: id }),
  fc.record({ retire: id }),
);
type Change = { set: string; room: string } | { remove: string } | { retire: string };

function apply(guests: Table<Guest, "room" | "arrival">, change: Change): void {
  if ("remove" in change) {
    guests.delete(change.remove);
    return;
  }
  const previous = guests.get("set" in change ? change.set : change.retire);
  if ("set" in change)
    guests.set({
      ...{
        id: change.set,
        room: change.room,
        number: Number(change.set),
        visits: (previous?.visits ?? 0) + 1,
      },
    });
  else if (previous !== undefined) guests.retire(previous);
}

type Guests = Pick<
  Table<Guest, "room" | "arrival">,
  "size" | "get" | "by" | "ordered" | "toArray" | "values" | "entries"
>;

const byNumber = (list: Iterable<Guest>) => [...list].sort((one, other) => one.number - other.number);

/** All rows, by every way that there is. Those that are gone in the meantime are last if there is no order. */
function allRows(guests: Guests) {
  const arrival = guests.ordered("arrival", "all");
  return {
    size: guests.size,
    single: IDS.map((one) => guests.get(one)),
    rows: [guests.toArray(), guests.values(), [...guests.entries()].map(([, row]) => row)].map(byNumber),
    rooms: ["a", "b", "c"].map((room) => {
      const rows = guests.by("room", room);
      const list = rows.toArray();
      expect([...rows.values()]).toEqual(list);
      expect([...rows.keys()]).toEqual(list.map((row) => row.id));
      expect(rows.size).toBe(list.length);
      return byNumber(list);
    }),
    arrival: {
      size: arrival.size,
      keys: [...arrival.keys()],
      rows: [arrival.toArray(), [...arrival.values()], [...guests.by("arrival", "all").values()]],
      after: [0, 2, 3, 6].map((order) => [...arrival.after(order)]),
      before: [1, 3, 4, 7].map((order) => [...arrival.before(order)]),
    },
  };
}

test("a past table has the rows as they were, and the table is as without it", async () => {
  await expectHolds(
    fc.property(
      fc.array(fc.array(change, { maxLength: 8 }), { minLength: 2, maxLength: 8 }),
      fc.array(fc.nat({ max: 10 })),
      (portions, forgotten) => {
        const { changes, guests } = createGuests();
        const past = new PastRows();
        changes.keepRows(past);
        const seen = new PastTable<Guest, "room" | "arrival">(guests, past);
        // The state after each number of changes of rows.
        const states = new Map([[0, allRows(guests)]]);
        let forgot = 0;
        for (const [index, portion] of portions.entries()) {
          for (const one of portion) {
            apply(guests, one);
            const present = allRows(guests);
            states.set(forgot + past.length, present);
            expect(allRows(seen)).toEqual(states.get(forgot));
            expect(allRows(guests)).toEqual(present);
          }
          const count = Math.min(past.length, (forgotten[index] ?? 0) - 3);
          if (count <= 0) continue;
          past.forget(count);
          forgot += count;
          expect(allRows(seen)).toEqual(states.get(forgot));
        }
      },
    ),
    300,
  );
});

test("the rows of a table and of an entry are in the order of their numbers, and otherwise those that are gone are last", () => {
  const { changes, guests } = createGuests();
  for (const number of [1, 2, 3]) guests.set({ id: String(number), room: "a", number, visits: 1 });
  const past = new PastRows();
  changes.keepRows(past);
  guests.delete("1");
  guests.set({ id: "2", room: "a", number: 2, visits: 2 });
  const lists = (table: PastTable<Guest, "room">) => [
    [...table.by("room", "a").keys()],
    [...table.values()].map(({ id }) => id),
    [...table.entries()].map(([key]) => key),
    table.toArray().map(({ id }) => id),
  ];
  for (const ids of lists(new PastTable(guests, past))) expect(ids).toEqual(["2", "3", "1"]);
  const ordered = new PastTable<Guest, "room">(guests, past, ({ number }) => number);
  for (const ids of lists(ordered)) expect(ids).toEqual(["1", "2", "3"]);
});

test("a pass has the rows of its instant, whatever changes between two of its rows", async () => {
  await expectHolds(
    fc.property(
      fc.boolean(),
      fc.array(id, { maxLength: 4 }),
      fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 8 }),
      (isOrdered, without, portions) => {
        const { changes, guests } = createGuests();
        for (const one of IDS) if (!without.includes(one)) apply(guests, { set: one, room: "a" });
        const past = new PastRows();
        changes.keepRows(past);
        const numberOf = isOrdered ? ({ number }: Guest) => number : undefined;
        const rows = guests.toArray();
        const taken: Guest[] = [];
        for (const row of new PastTable(guests, past, numberOf).values()) {
          taken.push(row);
          for (const one of portions[taken.length - 1] ?? []) apply(guests, one);
        }
        expect(isOrdered ? taken : byNumber(taken)).toEqual(rows);
      },
    ),
    500,
  );
});

test.each([true, false])(
  "a pass has the rows that are deleted after it has begun, also those that are stored (ordered: %s)",
  (isOrdered) => {
    const { changes, guests } = createGuests();
    const stored = new Map<string, Guest>();
    const read = (key: string) => {
      const guest = stored.get(key);
      if (guest === undefined) throw new Error(`the row ${key} is not stored`);
      return guest;
    };
    guests.readFrom({ read, readInOrder: () => read });
    for (let number = 1; number <= 400; number += 1) {
      const guest = { id: String(number), room: "a", number, visits: 1 };
      if (number % 2 === 0) {
        stored.set(guest.id, guest);
        guests.loadStored(guest);
      } else guests.set(guest);
    }
    const rows = guests.toArray();
    const past = new PastRows();
    changes.keepRows(past);
    const numberOf = isOrdered ? ({ number }: Guest) => number : undefined;
    const taken: Guest[] = [];
    for (const row of new PastTable(guests, past, numberOf).values()) {
      taken.push(row);
      if (taken.length !== 5) continue;
      for (let number = 3; number <= 390; number += 1) guests.delete(String(number));
      for (let number = 3; number <= 390; number += 1) stored.delete(String(number));
      guests.set({ id: "4", room: "b", number: 4, visits: 2 });
      guests.set({ id: "401", room: "b", number: 401, visits: 1 });
    }
    expect(isOrdered ? taken : byNumber(taken)).toEqual(rows);
  },
);

test("several pasts of a table each have the rows of their instant, until they end", () => {
  const { changes, guests } = createGuests();
  const visitsIn = (past: PastRows) => new PastTable(guests, past).get("1")?.visits;
  const pasts = [0, 1, 2].map((visits) => {
    guests.set({ id: "1", room: "a", number: 1, visits });
    const past = new PastRows();
    changes.keepRows(past);
    return past;
  });
  guests.set({ id: "1", room: "a", number: 1, visits: 3 });
  expect(pasts.map(visitsIn)).toEqual([0, 1, 2]);
  for (const past of pasts.slice(0, 2)) changes.endKeeping(past);
  const lengths = pasts.map(({ length }) => length);
  guests.set({ id: "1", room: "a", number: 1, visits: 4 });
  expect(pasts.map(({ length }, index) => length - (lengths[index] ?? 0))).toEqual([0, 0, 1]);
});

test("the rows of an emptied table are lost", () => {
  const { changes, guests } = createGuests();
  const past = new PastRows();
  changes.keepRows(past);
  guests.set({ id: "1", room: "a", number: 1, visits: 1 });
  guests.empty();
  expect(past.isBroken).toBe(true);
});
