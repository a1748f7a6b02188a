import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { FindDataVersion } from "../../platform/model/data-description.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { computeHost, hostInWorld, poolerHost } from "../../platform/rules/compute/host-name.ts";
import { isComputeVisible } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import { runRead } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { streamJson } from "../http/stream-json.ts";
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

/** Computes rendered in one step: a few milliseconds of work. */
const COMPUTES_PER_STEP = 50;

const listEndpoints = route(
  "GET /endpoints",
  { query: endpointsQuery },
  async ({ world, query, server }, context) => {
    const show = (view: World, compute: Compute, now: SimTime) => ({
      ...computeStats(view, compute, now),
      ...versionsOf(view, compute, server.findDataVersion),
      status: consoleStatus(compute),
      ...hostsOf(view, compute, context.req.param("world")),
    });
    const few = await runRead(world, ({ world: view, now }) => {
      const { endpoint_id: ids } = query;
      if (ids === undefined && view.computes.size > MAX_LISTED_COMPUTES) return undefined;
      const named = ids?.map((id) => view.computes.get(id)) ?? view.computes.toArray();
      const computes = named.filter((compute) => isVisible(view, compute));
      return { now: formatInstant(now), endpoints: computes.map((compute) => show(view, compute, now)) };
    });
    return few ?? streamJson((await world.inspect((view, now) => piecesOf(view, now, show))).values());
  },
);

/** The list in pieces, all of the same instant. Pauses after each. */
function* piecesOf(
  world: World,
  now: SimTime,
  show: (world: World, compute: Compute, now: SimTime) => object,
): Generator<undefined, readonly string[]> {
  const all = world.computes.toArray();
  let start = `{"now":${JSON.stringify(formatInstant(now))},"endpoints":[`;
  const pieces: string[] = [];
  for (let from = 0; from < all.length; from += COMPUTES_PER_STEP) {
    const computes = all.slice(from, from + COMPUTES_PER_STEP).filter((compute) => isVisible(world, compute));
    const shown = computes.map((compute) => JSON.stringify(show(world, compute, now)));
    if (shown.length > 0) {
      pieces.push(start + shown.join(","));
      start = ",";
    }
    yield undefined;
  }
  if (pieces.length === 0) pieces.push(start);
  return [...pieces, "]}"];
}

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

/** The Postgres version of the project, and the running one, which may differ. */
function versionsOf(world: World, compute: Compute, find: FindDataVersion | undefined) {
  const row = world.branchData.get(compute.branchId);
  return {
    pg_version: world.projects.get(compute.projectId)?.pgVersion,
    running_pg_version: (row && find?.(row)) ?? null,
  };
}

function isVisible(world: World, compute: Compute | undefined): compute is Compute {
  return compute !== undefined && isComputeVisible(world, compute);
}
