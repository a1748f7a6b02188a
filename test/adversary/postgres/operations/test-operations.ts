import { expect, test } from "vitest";
import type { Installation } from "../../../../src/postgres/installations/installation.ts";
import { type HostileServer, hostileServerForTests } from "../hostile-server.ts";
import { isThorough, NEWEST } from "../installations.ts";
import { secretsIn, stableFiles } from "../judge.ts";
import { CONTROL_OPERATIONS, type ControlOperation } from "./control-operations.ts";
import { ForkedWorld } from "./forked-world.ts";
import { BRANCH_OPERATIONS, OTHER_OPERATIONS } from "./platform-operations.ts";

/** Tests each operation on a fork of a hostile world, with its first example or with all of them. */
export function testOperations(installation: Installation): void {
  const hostile = hostileServerForTests(installation);

  for (const operation of BRANCH_OPERATIONS)
    for (const [index, example] of operation.examples.entries()) {
      if (index > 0 && !isThorough && !HOSTILE_EXAMPLE.test(example.title ?? "")) continue;
      const title = example.title === undefined ? "" : `, ${example.title},`;
      test(`${operation.operationId}${title} runs no hostile code with other rights`, () =>
        inFork(hostile(), async (world) => {
          // Some operations find the compute running.
          if (index % 2 === 0) expect(await world.wake()).toEqual([]);
          const ids = await world.call(operation, example);
          expect(await world.findings(ids)).toEqual([]);
        }));
    }

  if (NEWEST.includes(installation)) {
    test("the other operations of the platform run no hostile code with other rights", async () => {
      let calls = OTHER_OPERATIONS.flatMap((operation) =>
        operation.examples.map((example) => ({ operation, example })),
      );
      while (calls.length > 0) {
        const done = await inFork(hostile(), async (world) => {
          expect(await world.wake()).toEqual([]);
          let count = 0;
          for (const { operation, example } of calls) {
            // An operation before may have changed what this one needs. Then it is the first one of another fork.
            const succeeds = await world.call(operation, example).then(
              () => true,
              (error) => {
                if (count === 0) throw error;
                return false;
              },
            );
            if (!succeeds) break;
            count += 1;
          }
          expect(await world.findings([])).toEqual([]);
          return count;
        });
        calls = calls.slice(done);
      }
    });
  }

  test("the control API runs no hostile code with other rights", () =>
    inFork(hostile(), async (world) => {
      for (const [route, calls] of Object.entries<ControlOperation>(CONTROL_OPERATIONS)) {
        if (typeof calls === "string") continue;
        for (const call of calls(world.scene.ids)) await world.callControl(route, call);
        if (!route.startsWith("GET ")) expect([route, await world.findings([])]).toEqual([route, []]);
      }
    }));

  test("the server has logged no password, and no file outside of the volumes has changed", () => {
    const { server, files } = hostile();
    expect(secretsIn(server.stdout() + server.stderr(), [])).toEqual([]);
    expect(stableFiles(server.data)).toEqual(files);
  });
}

/** Those of `MORE_EXAMPLES`. */
const HOSTILE_EXAMPLE = /^(without the rows|with a name)/;

async function inFork<T>(hostile: HostileServer, use: (world: ForkedWorld) => Promise<T>): Promise<T> {
  const world = await ForkedWorld.open(hostile);
  try {
    return await use(world);
  } finally {
    await world.remove();
  }
}
