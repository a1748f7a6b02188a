import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { FindDataVersion } from "../../platform/model/data-description.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { computeHost, hostInWorld, poolerHost } from "../../platform/rules/compute/host-name.ts";
import { isComputeVisible } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { runRead } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";
import { computeStats, consoleStatus } from "./stats.ts";

const MAX_LISTED_COMPUTES = 100;
const endpointsQuery = strict({
  endpoint_id: z
    .string()
    .transform((text) => text.split(","))
    .refine(
      (ids) => ids.length <= MAX_LISTED_COMPUTES,
      `must be at most ${MAX_LISTED_COMPUTES} ids, separated by commas`,
    )
    .optional(),
});

/** Statistics of computes. */
export function endpointRoutes(): readonly ControlApiRoute[] {
  return [listEndpoints, getEndpointStats];
}

const listEndpoints = route(
  "GET /endpoints",
  { query: endpointsQuery },
  ({ world, query, server }, context) =>
    runRead(world, (transaction) => ({
      now: formatInstant(transaction.now),
      endpoints: computesOf(transaction.world, query.endpoint_id)
        .filter((compute) => isComputeVisible(transaction.world, compute))
        .map((compute) => ({
          ...computeStats(transaction.world, compute, transaction.now),
          ...versionsOf(transaction.world, compute, server.findDataVersion),
          status: consoleStatus(compute),
          ...hostsOf(transaction.world, compute, context.req.param("world")),
        })),
    })),
);

const getEndpointStats = route("GET /endpoints/:endpoint_id/stats", {}, ({ world, params, server }) =>
  runRead(world, (transaction) => {
    const compute = unwrap(findReachableCompute(transaction.world, params["endpoint_id"] ?? ""));
    return {
      ...computeStats(transaction.world, compute, transaction.now),
      ...versionsOf(transaction.world, compute, server.findDataVersion),
    };
  }),
);

/** The names that Postgres clients connect to. */
function hostsOf(world: World, compute: Compute, namedWorld: string | undefined) {
  const [host, pooler] = [computeHost(world, compute), poolerHost(world, compute)].map((name) =>
    namedWorld === undefined ? name : hostInWorld(name, namedWorld),
  );
  return { host, pooler_host: pooler };
}

/** The version of the project, and that of the Postgres that runs: another one may have replaced it. */
function versionsOf(world: World, compute: Compute, find: FindDataVersion | undefined) {
  const row = world.branchData.get(compute.branchId);
  return {
    pg_version: world.projects.get(compute.projectId)?.pgVersion,
    running_pg_version: (row && find?.(row)) ?? null,
  };
}

/** All computes, or those with these ids that exist. */
function computesOf({ computes }: World, ids: readonly string[] | undefined): Compute[] {
  return ids === undefined ? [...computes.values()] : ids.flatMap((id) => computes.get(id) ?? []);
}
