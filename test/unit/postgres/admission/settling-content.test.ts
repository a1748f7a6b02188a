import { afterEach, expect, test, vi } from "vitest";
import { SettlingContent } from "../../../../src/postgres/admission/settling-content.ts";

afterEach(() => vi.useRealTimers());

test("content has settled when all that was pending has ended", async () => {
  const settling = new SettlingContent();
  expect(settling.settled()).toBeUndefined();
  let end = () => {};
  void settling.add(
    new Promise<void>((resolve) => {
      end = resolve;
    }),
  );
  const settled = settling.settled();
  end();
  await settled;
  expect(settling.settled()).toBeUndefined();
});

test("nobody waits longer than two seconds for content that cannot settle", async () => {
  vi.useFakeTimers();
  const settling = new SettlingContent();
  let hasSettled = false;
  void settling.add(new Promise(() => undefined)).then(() => {
    hasSettled = true;
  });
  await vi.advanceTimersByTimeAsync(1_999);
  expect(hasSettled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(hasSettled).toBe(true);
  expect(settling.settled()).toBeUndefined();
});
