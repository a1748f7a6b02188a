import fc from "fast-check";
import { expect, test } from "vitest";
import { computeStats, recordActivity } from "../support/double/compute.ts";
import { createDouble, type Double } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { runWalk, walkCommands } from "../support/properties/random-walk.ts";

const absentOr = <T>(...values: readonly T[]) => fc.constantFrom<T | undefined>(undefined, ...values);

const endpointChanges = fc.record({
  name: absentOr("primary"),
  autoscaling_limit_min_cu: absentOr(0.25, 1),
  autoscaling_limit_max_cu: absentOr(1, 4),
  suspend_timeout_seconds: absentOr(-1, 0, 3_600),
  pooler_enabled: absentOr(true, false),
  passwordless_access: absentOr(true, false),
  provisioner: absentOr("k8s-pod"),
  settings: absentOr<object>(
    {},
    { pg_settings: { work_mem: "8MB", jit: "off" } },
    { pgbouncer_settings: { default_pool_size: "5" } },
    { preload_libraries: { use_defaults: false, enabled_libraries: ["pg_cron"] } },
  ),
});

const projectChanges = fc.record({
  history_retention_seconds: absentOr(0, 3_600),
  settings: absentOr<object>(
    { allowed_ips: { ips: ["192.0.2.1"], protected_branches_only: true } },
    { allowed_ips: { ips: [] }, quota: { active_time_seconds: 9_000_000 } },
    { maintenance_window: { weekdays: [1, 7], start_time: "01:00", end_time: "02:00" } },
    { preload_libraries: { enabled_libraries: ["pg_cron"] }, block_public_connections: true },
  ),
  default_endpoint_settings: absentOr<object>(
    { pg_settings: { work_mem: "8MB" } },
    { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: 600 },
  ),
});

type Changes = { readonly endpoint: object; readonly project: object };
/** An object of the API: where it is read and changed, and the field that holds it. */
type ApiObject = { readonly path: string; readonly field: "project" | "branch" | "endpoint" };

test("a PATCH with the values that a GET returned changes nothing but updated_at and the operations", async () => {
  await expectHolds(
    fc.asyncProperty(
      walkCommands({ maxSteps: 30 }),
      fc.record({ endpoint: endpointChanges, project: projectChanges }),
      async (steps, changes) => {
        // Two equal worlds. The values are repeated in one of them only.
        const worlds = [await createDouble(), await createDouble()] as const;
        try {
          for (const double of worlds) {
            await runWalk(steps, { double: () => double });
            await configureAndConnect(double, changes);
          }
          const [repeating, untouched] = worlds;
          expect(await visibleState(repeating)).toEqual(await visibleState(untouched));
          for (const object of await objectsOf(repeating)) {
            await repeatValues(repeating, object);
            expect(await visibleState(repeating), object.path).toEqual(await visibleState(untouched));
            // While the second operation of an update runs, and after both.
            for (const step of ["1500", "5s"]) {
              for (const double of worlds) await double.advance(step);
              expect(await visibleState(repeating), object.path).toEqual(await visibleState(untouched));
            }
          }
        } finally {
          for (const double of worlds) await double.close();
        }
      },
    ),
    20,
  );
});

/** Changes every project and compute, and uses every second compute. */
async function configureAndConnect(double: Double, { endpoint, project }: Changes): Promise<void> {
  // Activity that the walk scheduled would wait for the operations of an update.
  await double.advance("1d");
  await double.advance("1m");
  const objects = await objectsOf(double);
  for (const { path, field } of objects) {
    if (field === "project") await double.api("PATCH", path, { project });
    if (field !== "endpoint") continue;
    await double.api("PATCH", path, { endpoint });
    await double.advance("1m");
  }
  for (const [index, { path }] of objects.filter(({ field }) => field === "endpoint").entries()) {
    if (index % 2 === 1) continue;
    const id = path.slice(path.lastIndexOf("/") + 1);
    await recordActivity(double, id, { kind: "connect", connection_id: "client" });
    await recordActivity(double, id, { duration_ms: 90_000, blocks: { hits: 40, misses: 9 } });
  }
  await double.advance("30s");
}

async function objectsOf(double: Double): Promise<ApiObject[]> {
  const objects: ApiObject[] = [];
  for (const { id } of (await double.api("GET", "/projects?limit=400")).body.projects) {
    const project = `/projects/${id}`;
    objects.push({ path: project, field: "project" });
    // By default, branches are sorted by `updated_at`.
    const branches = await double.api("GET", `${project}/branches?sort_by=created_at`);
    for (const branch of branches.body.branches)
      objects.push({ path: `${project}/branches/${branch.id}`, field: "branch" });
    for (const endpoint of (await double.api("GET", `${project}/endpoints`)).body.endpoints)
      objects.push({ path: `${project}/endpoints/${endpoint.id}`, field: "endpoint" });
  }
  return objects;
}

/** Fields that cannot be changed are ignored. A branch may have expired meanwhile. */
async function repeatValues(double: Double, { path, field }: ApiObject): Promise<void> {
  const { status, body } = await double.api("GET", path);
  if (status === 404) return;
  const response = await double.api("PATCH", path, { [field]: body[field] });
  expect(response.status, `${path}: ${JSON.stringify(response.body)}`).toBe(200);
}

/** What clients see, without `updated_at` and what shows that operations are pending. */
async function visibleState(double: Double): Promise<unknown> {
  const objects: unknown[] = [];
  for (const { path, field } of await objectsOf(double)) {
    const {
      updated_at: _,
      pending_state: __,
      ...object
    }: { id: string; updated_at: string; pending_state?: string } = (await double.api("GET", path)).body[
      field
    ];
    objects.push(object);
    if (field !== "endpoint") continue;
    const { pending_state: ___, ...stats } = await computeStats(double, object.id);
    objects.push(stats);
  }
  return { objects, connections: (await double.sim("GET", "/state")).body.connections };
}
