import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject, type Double } from "../../support/double.ts";

/** A compute of two CU that sleeps after ten minutes, with three requests of a minute, an hour apart; and one that is as it was made. */
async function used() {
  const double = await createDouble();
  onTestFinished(() => double.close());
  const [mine, other] = [await createProject(double), await createProject(double)];
  const endpoint = { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 };
  await double.api("PATCH", mine.path, { endpoint });
  for (let hour = 0; hour < 3; hour += 1) {
    await double.advance("1h");
    for (const { endpointId } of [mine, other])
      await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 60_000 });
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
  expect(before.policies[0]).toMatchObject({
    policy: "present",
    figures: { cu_hours: { value: (3 * (660 * 2 + 360 * 0.25)) / 3_600 } },
  });
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

test.each([
  [{ from: "2026-01-01" }, 6],
  [{ from: "2026-01-01T01:30Z", to: "2026-01-01T03:30+01:00" }, 2],
  [{ from: "2026-01-01T02:30:00.000+01:00" }, 4],
  [{ profile: 2026 }, 6],
])("what flags take a question takes, too: %j", async (question, requests) => {
  const { double } = await used();
  const { traffic, question: told } = await asked(double, question);
  expect(traffic.requests).toBe(requests);
  expect(told.profile).toBe("profile" in question ? "2026" : "2024");
});

test.each([
  [{ from: "yesterday" }, "from: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ to: "2026-02-30" }, "to: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ to: "2026-01-01T12:00" }, "to: must be an ISO 8601 instant like 2026-01-31T12:00:00Z"],
  [{ profile: 2025 }, expect.stringMatching(/^profile: /)],
  [
    { to: "2026-01-01T00:30:00Z" },
    "no compute of this world was used before 2026-01-01T00:30:00.000Z, so there is no traffic to replay",
  ],
])("and what they refuse: %j", async (question, message) => {
  const { double } = await used();
  const { status, body } = await double.sim("POST", "/whatif", { policy: "fixed:60", ...question });
  expect({ status, message: body.message }).toEqual({ status: 400, message });
});
