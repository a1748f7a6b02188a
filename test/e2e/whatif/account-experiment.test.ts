import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AccountCurve } from "../../../src/whatif/periods/account-curve.ts";
import type { ExperimentPlan } from "../../../src/whatif/periods/experiment-plan.ts";
import type { LatencyFigures } from "../../../src/whatif/questions/curve/curve-summary.ts";
import {
  type AccountServer,
  accountFileName,
  pull,
  startAccount,
  useComputes,
} from "../../support/account/account-server.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

async function timeouts({ api, projects, computes }: AccountServer): Promise<number[]> {
  return Promise.all(
    computes.map(async (id, index) => {
      const { body } = await api("GET", `/projects/${projects[index]}/endpoints/${id}`);
      return body.endpoint.suspend_timeout_seconds;
    }),
  );
}

async function planOf(file: string, ...args: string[]): Promise<ExperimentPlan> {
  return (await runWhatif(["experiment", file, ...args])) as unknown as ExperimentPlan;
}

test("a planned experiment is set, restored exactly, and recognized by the next pull, with the truth inside the bounds", async () => {
  const server = await startAccount(["shop", "blog"]);
  const { api, sim, ready, key, data, projects, computes } = server;
  await api("PATCH", `/projects/${projects[1]}/endpoints/${computes[1]}`, {
    endpoint: { suspend_timeout_seconds: 420 },
  });
  await sim("POST", "/clock/advance", { by: "1h" });
  await useComputes(server);
  const out = accountFileName();
  await pull(ready.api_url, key, out);
  const before = (await runWhatif(["curve", out])) as unknown as AccountCurve;
  expect(before.experiments).toEqual([]);

  const planFile = join(testDirectory(), "plan.json");
  const planned = await runStandin([
    ...["whatif", "experiment", out, "--max-extra-cold-starts", "200/day", "--days", "1", "--out", planFile],
  ]);
  expect(planned).toMatchObject({ code: 0, stderr: "" });
  expect(planned.stdout).toContain("Set shorter delays on 2 computes for 1 day:");

  // One of them is active, so that the platform restarts it.
  await sim("POST", "/activity", { endpoint_id: computes[0], duration_ms: 20_000 });
  await sim("POST", "/clock/advance", { by: "30s" });
  const initial = await timeouts(server);
  expect(initial).toEqual([0, 420]);
  const applied = await runStandin(["whatif", "apply", "--plan", planFile, "--to", ready.api_url]);
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  expect(applied.stdout).toContain("To end the experiment: standin whatif apply --revert");
  expect(await timeouts(server)).toEqual([60, 60]);
  // A change of an idle compute is no operation, so two pulls bracket it.
  await pull(ready.api_url, key, out);
  await sim("POST", "/clock/advance", { by: "1h" });
  await useComputes(server);
  await pull(ready.api_url, key, out);

  const revertFile = planFile.replace(".json", ".revert.json");
  expect(existsSync(revertFile)).toBe(true);
  const reverted = await runStandin(["whatif", "apply", "--revert", revertFile, "--to", ready.api_url]);
  expect(reverted).toMatchObject({ code: 0, stderr: "" });
  expect(await timeouts(server)).toEqual(initial);
  await pull(ready.api_url, key, out);
  await sim("POST", "/clock/advance", { by: "1h" });
  await pull(ready.api_url, key, out);

  const after = (await runWhatif(["curve", out])) as unknown as AccountCurve;
  expect(after.experiments.map(({ compute, delay_s }) => ({ compute, delay_s }))).toEqual(
    computes.map((compute) => ({ compute, delay_s: 60 })),
  );
  expect((await runStandin(["whatif", "curve", out])).stdout).toContain("Experiment: 2 computes had");
  for (const { delay_s, cold_starts_per_day: cold, active_h_per_day: active } of after.delays) {
    if (typeof delay_s !== "number") continue;
    const { with_latency } = (await runWhatif([
      ...["curve", "--data", data, "--delay", `${delay_s}`],
    ])) as unknown as { with_latency: LatencyFigures };
    const total = (perDay: number) => perDay * after.account.days;
    const inside =
      with_latency.cold_starts >= total(cold.least) - 1e-6 &&
      with_latency.cold_starts <= total(cold.most) + 1e-6 &&
      with_latency.active_s >= total(active.least) * 3_600 - 1e-3 &&
      with_latency.active_s <= total(active.most) * 3_600 + 1e-3;
    expect({ delay_s, inside }).toEqual({ delay_s, inside: true });
  }
  const width = ({ delays, account }: AccountCurve) =>
    delays
      .filter(({ delay_s }) => delay_s === 60)
      .map(({ active_h_per_day: { least, most } }) => (most - least) * account.days)[0] ?? 0;
  // The days before are as unknown as they were; the experiment added no more than the restarts.
  expect(width(after) - width(before)).toBeLessThan(width(before));
});

test("a plan respects the budget of cold starts and of dollars", async () => {
  const server = await startAccount(["shop", "blog"]);
  const out = accountFileName();
  await pull(server.ready.api_url, server.key, out);
  const wide = await planOf(out, "--max-extra-cold-starts", "1000/day");
  expect(wide.computes).toHaveLength(2);
  const half = (wide.computes[0]?.extra_cold_starts_per_day ?? 0) * 1.01;
  const narrow = await planOf(out, "--max-extra-cold-starts", `${half}/day`);
  expect(narrow.computes).toHaveLength(1);
  expect(narrow.extra_cold_starts_per_day).toBeLessThanOrEqual(half);
  const cheap = await planOf(
    ...([
      out,
      "--max-extra-cold-starts",
      "1000",
      "--max-cost",
      `${wide.cold_start_cost_dollars / 2}`,
    ] as const),
  );
  expect(cheap.cold_start_cost_dollars).toBeLessThanOrEqual(wide.cold_start_cost_dollars / 2);
  expect(cheap.width_after_dollars_per_month).toBeGreaterThan(wide.width_after_dollars_per_month);
});

test.each([
  [["experiment", "fleet.csv", "--max-extra-cold-starts", "2"], /fleet\.csv: experiment needs a file of/],
  [["experiment", "a.standin-account"], /--max-extra-cold-starts/],
  [
    ["experiment", "a.standin-account", "--max-extra-cold-starts", "many"],
    /expected a number above 0, got "many"/,
  ],
  [["apply", "--plan", "huge"], /or a file of whatif experiment/],
  [["apply", "--plan", "plan.json", "--delays", "fleet"], /--delays: the delays are in the file of --plan/],
])("whatif %j is a usage error", async (args, message) => {
  const { code, stderr } = await runStandin(["whatif", ...args]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test("apply rejects a plan that sets nothing, and a file of another kind", async () => {
  const file = join(testDirectory(), "plan.json");
  writeFileSync(
    file,
    JSON.stringify({ plan_of: "standin whatif experiment", version: 1, days: 3, computes: [] }),
  );
  expect((await runStandin(["whatif", "apply", "--plan", file])).stderr).toContain(
    "the plan has no computes",
  );
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), version: 2 }));
  expect((await runStandin(["whatif", "apply", "--plan", file])).stderr).toContain(
    "not a plan of whatif experiment: version",
  );
});
