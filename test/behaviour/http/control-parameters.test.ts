import { expect, test } from "vitest";
import { createDouble, createProject } from "../../support/double/double.ts";

test.each([
  ...[
    "/health",
    "/health/live",
    "/clock",
    "/state",
    "/events",
    "/events/stream",
    "/requests/stream",
    "/invariants",
    "/accounts",
    "/api_keys",
    "/endpoints",
  ],
  ...[
    "/endpoints/ep-id/stats",
    "/metrics",
    "/explain/endpoints/ep-id",
    "/explain/operations/id",
    "/snapshots",
    "/snapshots/kept",
  ],
  ...["/worlds", "/worlds/default", "/coverage", "/faults", "/requests"],
])("GET %s rejects an unknown parameter", async (path) => {
  const double = await createDouble();
  const { status, body } = await double.sim("GET", `${path}?nope=1`);
  expect({ status, code: body.code }).toEqual({ status: 400, code: "BAD_REQUEST" });
  expect(body.message).toMatch(/^query: there is no field "nope"/);
});

test("a misspelled parameter is rejected instead of ignored, and nothing changes", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  const { body } = await double.sim("GET", `/explain/endpoints/${endpointId}?att=5`);
  expect(body.message).toBe('query: there is no field "att"; did you mean "at"?; expected at');
  expect(await double.sim("DELETE", "/requests?path=/projects")).toMatchObject({ status: 400 });
  expect((await double.sim("GET", "/requests?count=true")).body.count).toBeGreaterThan(0);
  expect(await double.sim("POST", "/reset?really=no", {})).toMatchObject({ status: 400 });
  expect((await double.sim("GET", "/state")).body.projects).toHaveLength(1);
});
