import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeSet } from "../../../src/kernel/change-set.ts";
import { Table } from "../../../src/kernel/table.ts";
import { expectHolds } from "../../support/properties/properties.ts";

type Seat = { readonly id: string; readonly row?: string | undefined; readonly number: number };

function createSeats() {
  return new Table<Seat, "row" | "plain">("seats", new ChangeSet(), {
    key: ({ id }) => id,
    indexes: { row: { key: ({ row }) => row, order: ({ number }) => number }, plain: ({ row }) => row },
  });
}

const numbers = (rows: Iterable<Seat>) => [...rows].map(({ number }) => number);

test("rows of an index with an order are sorted, whenever they join", () => {
  const seats = createSeats();
  for (const number of [5, 2, 9, 1]) seats.set({ id: `s${number}`, row: "x", number });
  const group = seats.ordered("row", "x");
  expect(numbers(group.values())).toEqual([1, 2, 5, 9]);
  expect(numbers(group.after(2))).toEqual([5, 9]);
  expect(numbers(group.after(3))).toEqual([5, 9]);
  expect(numbers(group.before(5))).toEqual([2, 1]);
  expect(numbers(group.before(Number.POSITIVE_INFINITY))).toEqual([9, 5, 2, 1]);
  expect(numbers(seats.ordered("row", "nowhere").after(0))).toEqual([]);
});

test("an index without an order cannot be read by it", () => {
  expect(() => createSeats().ordered("plain", "x")).toThrow("the index plain has no order");
});

const steps = fc.array(
  fc.record({
    number: fc.integer({ min: 1, max: 200 }),
    row: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
    isDeleted: fc.boolean(),
  }),
  { maxLength: 600, size: "max" },
);

test("an index with an order equals a sorted list, also after many rows have left it", async () => {
  await expectHolds(
    fc.asyncProperty(steps, fc.integer({ min: 0, max: 201 }), async (steps, position) => {
      const seats = createSeats();
      const plain = new Map<number, Seat>();
      for (const { number, row, isDeleted } of steps) {
        const seat = { id: `s${number}`, row, number };
        if (isDeleted) {
          seats.delete(seat.id);
          plain.delete(number);
        } else {
          seats.set(seat);
          plain.set(number, seat);
        }
      }
      for (const row of ["x", "y"]) {
        const expected = [...plain.values()]
          .filter((seat) => seat.row === row)
          .sort((one, other) => one.number - other.number);
        const group = seats.ordered("row", row);
        expect(group.size).toBe(expected.length);
        expect(group.toArray()).toEqual(expected);
        expect([...group.keys()]).toEqual(expected.map(({ id }) => id));
        expect([...group.after(position)]).toEqual(expected.filter(({ number }) => number > position));
        expect([...group.before(position)]).toEqual(
          expected.filter(({ number }) => number < position).reverse(),
        );
      }
    }),
    100,
  );
});

test("rows are found after most of them left in any order, and new ones joined", () => {
  const seats = createSeats();
  const seat = (number: number) => ({ id: `s${number}`, row: "x", number });
  const all = Array.from({ length: 300 }, (_, number) => number);
  for (const number of all) seats.set(seat(number * 2));
  const group = seats.ordered("row", "x");
  let expected = all.map((number) => number * 2);
  // 7 and 300 have no common factor, so each number leaves once.
  for (const step of all.slice(0, 290)) {
    const leaving = ((step * 7) % 300) * 2;
    seats.delete(`s${leaving}`);
    expected = expected.filter((number) => number !== leaving);
    if (step % 60 === 59) {
      seats.set(seat(leaving + 1));
      expected = [...expected, leaving + 1].sort((one, other) => one - other);
    }
    expect(group.size).toBe(expected.length);
    expect(numbers(group.values())).toEqual(expected);
    const middle = expected[expected.length >> 1] as number;
    expect(numbers(group.after(middle))).toEqual(expected.filter((number) => number > middle));
    expect(numbers(group.before(middle))).toEqual(expected.filter((number) => number < middle).reverse());
  }
});

test("a row that leaves and returns is listed once, at its place", () => {
  const seats = createSeats();
  for (const number of [1, 2, 3]) seats.set({ id: `s${number}`, row: "x", number });
  seats.delete("s2");
  expect(numbers(seats.ordered("row", "x").before(3))).toEqual([1]);
  seats.set({ id: "s2", row: "x", number: 2 });
  expect(numbers(seats.ordered("row", "x").after(0))).toEqual([1, 2, 3]);
  seats.delete("s2");
  expect(numbers(seats.ordered("row", "x").after(0))).toEqual([1, 3]);
});

test("an entry without rows is empty in every direction", () => {
  const nowhere = createSeats().ordered("row", "nowhere");
  expect([nowhere.size, nowhere.keys(), nowhere.values(), nowhere.toArray()]).toEqual([0, [], [], []]);
  expect([nowhere.after(0), nowhere.before(9)]).toEqual([[], []]);
});
