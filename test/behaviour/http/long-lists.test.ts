import { expect, test } from "vitest";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const PROJECTS = 600;

/** A world with this many computes, a few of them in a deleted project. */
async function createLargeWorld(): Promise<Double> {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  await double.world.transact(({ execute, world }) => {
    const accountId = world.projects.get(projectId)?.accountId ?? "";
    for (let count = 1; count < PROJECTS; count += 1)
      expect(execute({ type: "CreateProject", accountId, name: `p${count}` } as never)).toMatchObject({
        ok: true,
      });
  });
  await double.api("DELETE", `/projects/${projectId}`);
  return double;
}

/** The answer, and how many turns of the event loop others had meanwhile. */
async function read(double: Double, path: string) {
  let turns = 0;
  let isReading = true;
  const count = () => {
    turns += 1;
    if (isReading) setImmediate(count);
  };
  setImmediate(count);
  const { body } = await double.sim("GET", path);
  isReading = false;
  return { body, turns };
}

test("a long list of computes is read in many turns of the event loop, and has what short lists have", async () => {
  const double = await createLargeWorld();
  const { body, turns } = await read(double, "/endpoints");
  expect(turns).toBeGreaterThan(PROJECTS / 100);
  expect(body.endpoints).toHaveLength(PROJECTS - 1);
  const ids: string[] = body.endpoints.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id);
  const { body: some } = await double.sim("GET", `/endpoints?endpoint_id=${ids.slice(500).join(",")}`);
  expect(some).toEqual({ now: body.now, endpoints: body.endpoints.slice(500) });
});

test("invariants of a large world are checked in many turns of the event loop", async () => {
  const double = await createLargeWorld();
  const few = await read(await createDouble(), "/invariants");
  const many = await read(double, "/invariants");
  expect(many.body).toEqual(few.body);
  expect(many.turns).toBeGreaterThan(few.turns + 10);
});

test("a long list of events and the state of a large world are read in many turns, with all rows", async () => {
  const double = await createLargeWorld();
  const events = await read(double, "/events?limit=10000");
  const { events: expected } = (await double.sim("GET", "/events?limit=400")).body;
  expect(events.body.events.slice(0, 400)).toEqual(expected);
  expect(events.body.events.map(({ seq }: { seq: number }) => seq)).toEqual(
    Array.from({ length: double.world.history().seq }, (_, index) => index + 1),
  );
  expect(events.turns).toBeGreaterThan(events.body.events.length / 500);
  const state = await read(double, "/state");
  expect(state.body.endpoints.length).toBeGreaterThanOrEqual(PROJECTS - 1);
  expect(state.turns).toBeGreaterThan(PROJECTS / 200);
});
