import { expect, test } from "vitest";
import { createDouble, createProject } from "../support/double.ts";

test("a compute sleeps exactly at its delay, not a millisecond before", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.sim("POST", "/activity", { endpoint_id: endpointId, kind: "query", duration_ms: 1500 });
  await double.advance("301499");
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("active");
  await double.advance("1");
  expect((await double.api("GET", path)).body.endpoint.current_state).toBe("idle");
});
