import { expect, test } from "vitest";
import { HOUR } from "../../../src/kernel/time.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import { explain } from "../../support/double/explanation.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";

/** Enough events for several steps of a search. */
const QUERIES = 4_000;

async function usedCompute(kind: (typeof STORAGE_KINDS)[number]) {
  const double = (await createTestDouble(kind)).double();
  const { endpointId } = await createProject(double);
  await double.sim("POST", "/snapshots", { name: "unused" });
  const { world } = double;
  const from = world.now();
  await world.transact(({ execute }) => {
    for (let query = 1; query <= QUERIES; query += 1)
      execute({
        type: "ScheduleActivity",
        at: from + (query * HOUR) / QUERIES,
        activity: { endpointId, kind: "query", durationMs: 1 },
      });
  });
  await double.advance("1h");
  return { double, endpointId };
}

/** The explanation of a compute, and something else that begins with the search. */
async function explainWhile({ world, sim }: Double, endpointId: string, meanwhile: () => Promise<unknown>) {
  const { readAbout } = world;
  let others: Promise<unknown> | undefined;
  world.readAbout = (object, work) => {
    const reading = readAbout.call(world, object, work) as never;
    others = meanwhile();
    return reading;
  };
  const explained = await explain({ sim }, endpointId);
  world.readAbout = readAbout;
  await others;
  return explained;
}

test.each(STORAGE_KINDS)(
  "%s: an explanation includes what happens while history is searched",
  async (kind) => {
    const { double, endpointId } = await usedCompute(kind);
    const { status, body } = await explainWhile(double, endpointId, async () => {
      const activity = { endpointId, kind: "query", durationMs: HOUR } as const;
      await double.world.transact(({ execute }) => execute({ type: "RecordActivity", activity }));
    });
    expect(status).toBe(200);
    expect(body).toEqual((await explain(double, endpointId)).body);
    expect(body.summary).toContain("a query runs until");
  },
);

test.each(STORAGE_KINDS)(
  "%s: an explanation is of one history, also if the world is restored meanwhile",
  async (kind) => {
    const { double, endpointId } = await usedCompute(kind);
    const { status, body } = await explainWhile(double, endpointId, () =>
      double.sim("POST", "/snapshots/unused/restore"),
    );
    expect({ status, message: body.message }).toEqual({ status: 200, message: undefined });
    expect(body).toEqual((await explain(double, endpointId)).body);
  },
);
