import { expect, test, vi } from "vitest";
import { DatabaseAbsences } from "../../../../src/postgres/processes/database-absence.ts";

/** Work that goes on until it is ended. */
function work() {
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done, end };
}

test("an absence begins when the current visit has ended, however it ends", async () => {
  const absences = new DatabaseAbsences();
  const visit = work();
  void absences.visit(() => visit.done);
  let hasBegun = false;
  const { begun, end } = absences.begin();
  void begun.then(() => {
    hasBegun = true;
  });
  await Promise.resolve();
  expect([absences.isBarred, hasBegun]).toEqual([true, false]);
  visit.end();
  await begun;
  end();
  expect(absences.isBarred).toBe(false);
  await expect(absences.visit(() => Promise.reject(new Error("rejected")))).rejects.toThrow("rejected");
  await absences.begin().begun;
});

test("databases may be entered when all absences have ended", async () => {
  const absences = new DatabaseAbsences();
  const [first, second] = [absences.begin(), absences.begin()];
  let isOver = false;
  const over = absences.over().then(() => {
    isOver = true;
  });
  first.end();
  await first.begun;
  expect([absences.isBarred, isOver]).toEqual([true, false]);
  second.end();
  await over;
  expect(absences.isBarred).toBe(false);
});

test("an absence that nobody ends is over after ten seconds", async () => {
  vi.useFakeTimers();
  try {
    const absences = new DatabaseAbsences();
    absences.begin();
    vi.advanceTimersByTime(9_999);
    expect(absences.isBarred).toBe(true);
    vi.advanceTimersByTime(1);
    expect(absences.isBarred).toBe(false);
    await absences.over();
  } finally {
    vi.useRealTimers();
  }
});
