import { fail } from "../../http/request.ts";
import type { SimTime } from "../../kernel/time.ts";
import { addLevels, NO_STORAGE } from "../../platform/model/storage-use.ts";
import { extraBranches, NO_EXTRA_BRANCHES } from "../../platform/rules/usage/extra-branches.ts";
import { snapshotBytes } from "../../platform/rules/usage/meter-snapshots.ts";
import { storedAt } from "../../platform/rules/usage/stored-data.ts";
import type { World } from "../../platform/world/world.ts";
import { runRead } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import type { DataUsage } from "../http/server-figures.ts";

const NO_DATA = { engine: null, as_of: null, exact: true, size_bytes: 0, points: 0, available_since: null };

/** Branches or projects. Takes a millisecond. */
const ROWS_PER_STEP = 500;
const NO_USAGE: DataUsage = { volumes: 0, bytes: 0, waitingBytes: 0, limitBytes: undefined };

/** The data of branches, which history does not contain. */
export function branchDataRoutes(): readonly ControlApiRoute[] {
  return [getBranchData, getDataUsage];
}

const getBranchData = route("GET /branches/:branch_id/data", {}, async ({ world, params, server }) => {
  const branchId = params["branch_id"] ?? "";
  const row = await runRead(world, (view) => {
    if (view.world.branches.get(branchId) === undefined)
      fail({ status: 404, code: "BRANCH_NOT_FOUND", message: `branch "${branchId}" not found` });
    return view.world.branchData.get(branchId);
  });
  const data = row && (await server.describeBranchData?.(row));
  if (data === undefined) return NO_DATA;
  const { pgVersion, asOf, isExact, sizeBytes, points, since } = data;
  return {
    engine: `postgres ${pgVersion}`,
    as_of: formatInstant(asOf),
    exact: isExact,
    size_bytes: sizeBytes,
    points,
    available_since: since === undefined ? null : formatInstant(since),
  };
});

const getDataUsage = route("GET /data", {}, async ({ world, server }) => {
  const { volumes, bytes, waitingBytes, limitBytes } = server.dataUsage?.() ?? NO_USAGE;
  const ofBill = await world.inspect(billedSteps);
  return {
    volumes,
    size_bytes: bytes,
    waiting_bytes: waitingBytes,
    limit_bytes: limitBytes ?? null,
    ...ofBill,
  };
});

/** Sizes that the bill counts, calculated in steps between which other work can run. */
function* billedSteps(world: World, now: SimTime) {
  let sum = NO_STORAGE;
  const branches = world.branches.toArray();
  for (let from = 0; from < branches.length; from += ROWS_PER_STEP) {
    sum = addLevels(sum, storedAt(world, branches.slice(from, from + ROWS_PER_STEP), now));
    yield undefined;
  }
  let extra = NO_EXTRA_BRANCHES;
  const projects = world.projects.toArray();
  for (let from = 0; from < projects.length; from += ROWS_PER_STEP) {
    extra = extraBranches(world, projects.slice(from, from + ROWS_PER_STEP), extra);
    yield undefined;
  }
  const { root, child, history, logical } = sum;
  return {
    billed: logical === 0 ? null : { storage_bytes: root + child, history_bytes: history },
    snapshot_bytes: snapshotBytes(world) ?? null,
    extra_branches: extra,
  };
}
