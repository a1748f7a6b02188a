import { expect, test, vi } from "vitest";
import { WorldEvents } from "../../../../src/postgres/admission/world-events.ts";
import { OutcomeUnknown } from "../../../../src/simulation/journal.ts";
import { StoreUnavailable } from "../../../../src/worlds/world-handle.ts";

function worldEvents() {
  const stop = vi.fn();
  const options = { computes: new Map([["ep-one", { stop }]]), changes: { notifyAll: () => undefined } };
  return { events: new WorldEvents(options as never), stop };
}

test.each([
  ["SQLITE_FULL", "53100"],
  ["ENOSPC", "53100"],
  ["EIO", "53000"],
])("after a commit that %s has failed, clients of the world get %s", (code, sqlState) => {
  const { events, stop } = worldEvents();
  const message = 'world "default" could not commit';
  const cause = Object.assign(new Error(), { code });
  void events.follow([], new StoreUnavailable(message, { cause }));
  // A failed sync does not say whether the commit is on disk.
  void events.follow([], new StoreUnavailable(message, { cause: new OutcomeUnknown("sync", { cause }) }));
  expect(stop.mock.calls).toEqual(Array(2).fill([{ severity: "FATAL", code: sqlState, message }]));
});

test("after a restore, clients of the world get the error of an administrator's command", () => {
  const { events, stop } = worldEvents();
  void events.follow([]);
  expect(stop.mock.calls).toEqual([[undefined]]);
});
