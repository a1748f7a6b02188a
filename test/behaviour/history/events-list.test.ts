import { expect, test } from "vitest";
import { HOUR, MINUTE } from "../../../src/kernel/time.ts";
import { createProject, type Double, START } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";

/** More events than are read in one turn happen each day. */
const QUERIES = 480;

async function useCompute(double: Double, endpointId: string): Promise<void> {
  const from = double.world.now();
  await double.world.transact(({ execute }) => {
    for (let query = 1; query <= QUERIES; query += 1)
      execute({
        type: "ScheduleActivity",
        at: from + (query * 24 * HOUR) / QUERIES,
        activity: { endpointId, kind: "query", durationMs: MINUTE },
      });
  });
  await double.advance("25h");
}

/** Lists events, and does something before the second part of the list is read. */
async function listWhile({ world, sim }: Double, since: number, meanwhile: () => Promise<unknown>) {
  const { events } = world;
  let parts = 0;
  world.events = async (from, limit) => {
    parts += 1;
    if (parts === 2) await meanwhile();
    return events.call(world, from, limit);
  };
  const { body } = await sim("GET", `/events?since=${since}&limit=10000`);
  world.events = events;
  return body;
}

test.each(STORAGE_KINDS)(
  "%s: a list of events is of one history, also if the world is restored meanwhile",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { endpointId } = await createProject(double);
    const since = (await double.sim("POST", "/snapshots", { name: "early" })).body.snapshot.seq;
    await useCompute(double, endpointId);
    const before = (await double.sim("GET", `/events?since=${since}&limit=10000`)).body.events;
    const { events, next_since } = await listWhile(double, since, async () => {
      await double.sim("POST", "/snapshots/early/restore");
      await createProject(double);
      await useCompute(double, endpointId);
    });
    expect(events).toEqual(before.slice(0, events.length));
    expect(next_since).toBe(since + events.length);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a list of events has no gap, also if history is truncated meanwhile",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { endpointId } = await createProject(double);
    await useCompute(double, endpointId);
    const { events, next_since, forgotten_seq } = await listWhile(double, 0, async () => {
      await double.world.compact(0);
      await useCompute(double, endpointId);
    });
    const seqs = events.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect([next_since, forgotten_seq]).toEqual([seqs.length, undefined]);
    const rest = (await double.sim("GET", `/events?since=${next_since}`)).body;
    expect(rest.events[0]?.seq).toBe((rest.forgotten_seq ?? 0) + 1);
    expect(double.world.now()).toBeGreaterThan(START + 48 * HOUR);
  },
);
