import { expect, test } from "vitest";
import { uniform } from "../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { createBranch, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const COMPUTES = 60;
const CALLS = 1_500;
/** Each compute is used about every two minutes, and suspends after one. */
const QUERIES_PER_SECOND = COMPUTES / 120;
/** As public clients do, the client waits until its own operations have finished. */
const WAIT_S = 12;

/** The calls of a client, on a compute and its branch: every second one reads. */
const CALL_KINDS = [
  ({ path }) => ["GET", path],
  ({ project }) => ["GET", `${project}/operations?limit=10`],
  ({ project }) => ["GET", `${project}/endpoints`],
  ({ branch }) => ["GET", branch],
  ({ path }, number) => ["PATCH", path, { endpoint: { suspend_timeout_seconds: 60 + (number % 60) } }],
  ({ path }) => ["POST", `${path}/restart`],
  ({ path }) => ["POST", `${path}/start`],
  ({ path }) => ["POST", `${path}/suspend`],
  ({ branch }, number) => ["POST", `${branch}/roles`, { role: { name: `role_${number}` } }],
  ({ branch }, number) => ["PATCH", branch, { branch: { name: `branch-${number}` } }],
] as const satisfies readonly ((
  of: { readonly project: string; readonly path: string; readonly branch: string },
  number: number,
) => readonly [method: string, path: string, body?: object])[];

test("while traffic wakes 60 computes of a project, at most 0.5 % of a client's calls get 423", async () => {
  const double = await createDouble({ durations: "varied" });
  const { projectId } = await createProject(double);
  const project = `/projects/${projectId}`;
  const computes: { readonly path: string; readonly branch: string }[] = [];
  while (computes.length < COMPUTES) {
    const { branchId, paths } = await createBranch(double, projectId, [
      { type: "read_write", suspend_timeout_seconds: 60 },
    ]);
    computes.push({ path: paths[0] ?? "", branch: `${project}/branches/${branchId}` });
  }
  const draw = randomFrom(60).stream("waking-computes", 0);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(uniform(draw) * items.length)] as T;
  const statuses = new Map<number, number>();
  let woken = 0;
  for (let number = 0; number < CALLS; number += 1) {
    const [method, path, sent] = pick(CALL_KINDS)({ project, ...pick(computes) }, number);
    const { status, body } = await double.api(method, path as "/projects", sent as never);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const { operations } = body as { readonly operations?: readonly unknown[] };
    const hasScheduled = method !== "GET" && operations !== undefined && operations.length > 0;
    for (let second = 0; second < (hasScheduled ? WAIT_S : 1); second += 1) {
      if (uniform(draw) < QUERIES_PER_SECOND) {
        const { woke } = await recordActivity(double, pick(computes).path.split("/").at(-1) ?? "");
        if (woke) woken += 1;
      }
      await double.advance("1s");
    }
  }
  expect(woken).toBeGreaterThan(CALLS / 2);
  expect([...statuses.keys()].filter((status) => status >= 400 && status !== 423)).toEqual([]);
  expect((statuses.get(423) ?? 0) / CALLS).toBeLessThanOrEqual(0.005);
}, 180_000);
