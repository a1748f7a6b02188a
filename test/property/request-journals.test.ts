import fc from "fast-check";
import { test } from "vitest";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { PendingRequests } from "../../src/simulation/request-log.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { TwinJournal } from "../support/store/twin-journal.ts";

const CLOCK = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;
const { settings, numbers } = emptyWorld();

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      add: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 490, max: 1_100 })),
    }),
  },
  { weight: 1, arbitrary: fc.constant("reopen" as const) },
  { weight: 1, arbitrary: fc.constant("forget" as const) },
);

test("request logs in memory and in a file return the same of the newest requests, in any order of arrival", async () => {
  await expectHolds(
    fc.asyncProperty(
      fc.constantFrom(1, 3, 700, 10_000),
      fc.array(step, { maxLength: 12 }),
      fc.infiniteStream(fc.nat(3_000)),
      async (keep, steps, looks) => {
        const twin = new TwinJournal();
        let pending = new PendingRequests(keep, 0);
        try {
          for (const taken of steps) {
            if (taken === "forget") {
              twin.clearRequests();
              pending.clear();
            } else if (taken === "reopen") {
              twin.reopen();
              pending = new PendingRequests(keep, twin.newestRequest);
            } else {
              for (let number = 0; number < taken.add; number += 1)
                pending.append(number, 0, { requestId: "r", method: "GET", path: "/", status: 200 });
              twin.write({
                events: [],
                changes: [],
                settings,
                numbers,
                clock: CLOCK,
                now: 0,
                requests: pending.take(),
              });
            }
            const [since, limit] = [looks.next().value ?? 0, 1 + (looks.next().value ?? 0)];
            void twin.newestRequest;
            // The file may still have others.
            const retained = Math.max(0, twin.newestRequest - keep);
            twin.requests(retained, 1);
            twin.requests(Math.max(retained, since), limit);
            twin.requests(retained, keep + 1);
          }
        } finally {
          twin.end();
        }
      },
    ),
    100,
  );
});
