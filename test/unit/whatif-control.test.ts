import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject, type Double } from "../support/double.ts";

/** A compute of two CU that sleeps after ten minutes, with three requests of a minute, an hour apart; and one that is as it was made. */
async function used() {
  const double = await createDouble();
  onTestFinished(() => double.close());
  const [mine, other] = [await createProject(double), await createProject(double)];
  const endpoint = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 };
  await double.api("PATCH", mine.path, { endpoint });
  for (let hour = 0; hour < 3; hour += 1) {
    await double.advance("1h");
    for (const { endpointId } of [mine, other]) await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 60_000 });
  }
  await double.advance("1h");
  return { double, mine, other };
}

async function asked(double: Double, question = {}) {
  const { status, body } = await double.sim("POST", "/whatif", { policy: "fixed:60", ...question });
  expect(status).toBe(200);
  return body;
}

test("a compute that is deleted counts as it was last: nothing that it has cost is told otherwise", async () => {
  const { double, mine } = await used();
  const { input, ...before } = await asked(double);
  expect(input).toEqual({ notes: [] });
  expect(before.policies[0]).toMatchObject({ policy: "present", figures: { cu_hours: { value: (3 * (660 * 2 + 360 * 0.25)) / 3_600 } } });
  expect((await double.api("DELETE", mine.path)).status).toBe(200);
  expect(await asked(double)).toEqual({ ...before, input });
});

test("what a forgotten history does not tell any more is noted", async () => {
  const { double, mine } = await used();
  await double.sim("POST", "/compact", { keep: "0s" });
  await double.sim("POST", "/activity", { endpoint_id: mine.endpointId, duration_ms: 60_000 });
  await double.advance("1h");
  const forgotten = "the beginning of this world's history is forgotten: traffic before that is not seen";
  expect((await asked(double)).input.notes).toEqual([forgotten]);
  await double.api("DELETE", mine.path);
  const gone =
    /^1 compute of the traffic is not in this world any more, nor in what is left of its history: taken for 1 CU with a delay of 300 s$/;
  expect((await asked(double)).input.notes).toEqual([forgotten, expect.stringMatching(gone)]);
});
