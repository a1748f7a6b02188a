import { expect, test } from "vitest";
import { allBranchData } from "../../../src/worlds/data-references.ts";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import { StoreUnavailable } from "../../../src/worlds/world-handle.ts";
import type { WorldStorage } from "../../../src/worlds/world-storage.ts";

const reference = (id: string) => ({ id, volumeId: `history/${id}`, at: 0 });

/** Two worlds, of which the second cannot be read. `meanwhile` happens while the first is read. */
function scene(meanwhile: (names: Set<string>) => void, second?: Partial<HostedWorld>) {
  const names = new Set(["default", "second"]);
  const storage = {
    worlds: () => [...names],
    snapshotNames: () => [],
    branchData: (name: string) => {
      throw new Error(`${name}.sqlite cannot be read`);
    },
  } as unknown as WorldStorage;
  const first = {
    isDormant: false,
    transact: async () => {
      meanwhile(names);
      return [reference("br-1")];
    },
  } as unknown as HostedWorld;
  const open = new Map([["default", first]]);
  if (second !== undefined) open.set("second", second as HostedWorld);
  const failures: unknown[] = [];
  return { failures, read: () => allBranchData(storage, open, (error) => failures.push(error)) };
}

const closed = () => Promise.reject(new StoreUnavailable('world "second" is closed'));

test("a world that is deleted while the references are read is no failure", async () => {
  const { failures, read } = scene((names) => names.delete("second"));
  expect(await read()).toEqual([reference("br-1")]);
  expect(failures).toEqual([]);
});

test("a world that is closed for its deletion makes the references unknown, and is no failure", async () => {
  const { failures, read } = scene(() => undefined, {
    isDormant: false,
    isShuttingDown: true,
    transact: closed,
  });
  expect(await read()).toBeUndefined();
  expect(failures).toEqual([]);
});

test("a world that cannot be read is a failure, and the references are unknown", async () => {
  const { failures, read } = scene(() => undefined);
  expect(await read()).toBeUndefined();
  expect(failures).toEqual([new Error("second.sqlite cannot be read")]);
});
