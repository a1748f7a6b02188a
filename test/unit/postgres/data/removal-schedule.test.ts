import { expect, onTestFinished, test, vi } from "vitest";
import { RemovalSchedule } from "../../../../src/postgres/data/removal-schedule.ts";

function scheduleOf(search: () => Promise<void>): RemovalSchedule {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return new RemovalSchedule(search);
}

test("requests that come together share one search, and without a request there is none", async () => {
  const search = vi.fn(async () => undefined);
  const schedule = scheduleOf(search);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(search).toHaveBeenCalledTimes(0);
  for (let request = 0; request < 10; request += 1) schedule.request();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(search).toHaveBeenCalledTimes(1);
});

test("a request during a search leads to another one, after a pause of ten times its duration", async () => {
  const search = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 1_000)));
  const schedule = scheduleOf(search);
  schedule.request();
  await vi.advanceTimersByTimeAsync(500);
  schedule.request();
  await vi.advanceTimersByTimeAsync(10_700);
  expect(search).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(search).toHaveBeenCalledTimes(2);
});

test("however long a search takes, the next one begins within half a minute", async () => {
  const search = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 60_000)));
  const schedule = scheduleOf(search);
  schedule.request();
  await vi.advanceTimersByTimeAsync(30_000);
  schedule.request();
  await vi.advanceTimersByTimeAsync(30_250 + 29_990);
  expect(search).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(search).toHaveBeenCalledTimes(2);
});

test("after the end there is no search", async () => {
  const search = vi.fn(async () => undefined);
  const schedule = scheduleOf(search);
  schedule.request();
  schedule.close();
  schedule.request();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(search).toHaveBeenCalledTimes(0);
});

test("a search that has failed is repeated after half a minute", async () => {
  let failures = 2;
  const search = vi.fn(async () => {
    failures -= 1;
    if (failures >= 0) schedule.retry();
  });
  const schedule = scheduleOf(search);
  schedule.request();
  await vi.advanceTimersByTimeAsync(29_000);
  expect(search).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(search).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(search).toHaveBeenCalledTimes(3);
});
