import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeSet } from "../../src/kernel/change-set.ts";
import { Table } from "../../src/kernel/table.ts";
import { UndoLog } from "../../src/kernel/undo-log.ts";
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

const id = fc.constantFrom("1", "2", "3", "4", "5", "6");
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

/** All rows, by every way that there is, in order. */
function allRows(guests: Table<Guest, "room" | "arrival">) {
  return {
    size: guests.size,
    rows: guests.toArray(),
    rooms: ["a", "b", "c"].map((room) => guests.by("room", room).toArray()),
    arrival: [...guests.ordered("arrival", "all").values()],
  };
}

/** Rows that are gone in the meantime come back at the end. */
function inAnyOrder({ size, rows, rooms, arrival }: ReturnType<typeof allRows>) {
  const sorted = (list: readonly Guest[]) => [...list].sort((one, other) => one.number - other.number);
  return { size, rows: sorted(rows), rooms: rooms.map(sorted), arrival };
}

test("work sees rows as they were, and afterwards they and their order are as without it", async () => {
  await expectHolds(
    fc.property(
      fc.array(fc.array(change, { maxLength: 8 }), { minLength: 2, maxLength: 8 }),
      fc.array(fc.nat({ max: 10 })),
      (portions, forgotten) => {
        const { changes, guests } = createGuests();
        const { guests: untouched } = createGuests();
        const log = new UndoLog();
        changes.undoLog = log;
        const states = [allRows(guests)];
        for (const [index, portion] of portions.entries()) {
          for (const one of portion) {
            apply(guests, one);
            apply(untouched, one);
            states.push(allRows(guests));
            const seen = log.whileUndone(() => allRows(guests));
            expect(inAnyOrder(seen)).toEqual(inAnyOrder(oldest(states)));
            expect(allRows(guests)).toEqual(allRows(untouched));
          }
          if ((forgotten[index] ?? 0) > 5) {
            log.forget(log.length);
            states.splice(0, states.length - 1);
          }
        }
      },
    ),
    2_000,
  );
});

function oldest<T>(states: readonly T[]): T {
  const [first] = states;
  if (first === undefined) throw new Error("there is no state");
  return first;
}

test("an emptied table cannot be undone", () => {
  const { changes, guests } = createGuests();
  const log = new UndoLog();
  changes.undoLog = log;
  guests.set({ id: "1", room: "a", number: 1, visits: 1 });
  guests.empty();
  expect(log.isBroken).toBe(true);
});
