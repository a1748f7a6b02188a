import type { Context } from "hono";
import * as z from "zod";
import { parseInput, unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { WorldInfo } from "../../worlds/world-handle.ts";
import { clockSetting, point, worldName } from "../http/control-fields.ts";
import { runTransaction } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { isWorldOf, requireWorld, teamOf } from "../http/team-token.ts";

const settings = {
  from: worldName.optional(),
  at: point.optional(),
  clock: clockSetting.optional(),
  seed: z.int().min(0).optional(),
};
const fork = z.strictObject({ name: worldName, ...settings });
const creation = z.strictObject({ ...settings, if_exists: z.enum(["keep", "refuse"]).default("refuse") });

/** Lists, creates, resets and deletes worlds. */
export function worldRoutes(): readonly ControlApiRoute[] {
  return [listWorlds, forkWorld, getWorld, deleteWorld, createWorld, resetWorld];
}

const listWorlds = route("GET /worlds", {}, ({ server }, context) => ({
  worlds: server.worlds
    .list()
    .filter(({ name }) => isVisible(context, name))
    .map((world) => renderWorld(world, context, server.cell)),
}));

const forkWorld = route(
  "POST /worlds",
  { body: fork, status: 201 },
  async ({ world, server, body: { from = world.name, ...input } }, context) => {
    for (const name of [from, input.name]) requireWorld(context, name);
    const forked = unwrap(await server.worlds.fork({ ...input, from }));
    return { world: { ...renderWorld(forked, context, server.cell), from } };
  },
);

const getWorld = route("GET /worlds/:name", {}, ({ params, server: { worlds, cell } }, context) => {
  requireWorld(context, params["name"] ?? "");
  const { name } = unwrap(worlds.world(params["name"] ?? ""));
  const info = worlds.list().find((world) => world.name === name);
  return { world: info && renderWorld(info, context, cell) };
});

const deleteWorld = route("DELETE /worlds/:name", {}, async ({ params, server }, context) => {
  const name = params["name"] ?? "";
  requireWorld(context, name);
  unwrap(await server.worlds.remove(name));
  return { name, deleted: true };
});

/**
 * `PUT /w/<name>/_sim/world` creates the world that its path names, as a fork, so that a router in front of several
 * servers knows from the path which of them gets it.
 */
const createWorld = route(
  "PUT /world",
  { body: creation, isForDefaultWorld: true },
  async ({ world, params, server, body: { from = world.name, if_exists, ...input } }, context) => {
    const { worlds, cell } = server;
    const name = parseInput(worldName, params["world"] ?? world.name, "world");
    for (const each of [from, name]) requireWorld(context, each);
    const existing = worlds.list().find((info) => info.name === name);
    if (existing !== undefined && if_exists === "keep")
      return { world: renderWorld(existing, context, cell), created: false };
    const forked = unwrap(await worlds.fork({ ...input, name, from }));
    return { world: { ...renderWorld(forked, context, cell), from }, created: true };
  },
);

const resetWorld = route("POST /reset", { body: z.strictObject({}).optional() }, ({ world }) =>
  runTransaction(world, (transaction) => {
    transaction.execute({ type: "ResetWorld" });
    return { now: formatInstant(transaction.now), seq: transaction.world.seq };
  }),
);

function isVisible(context: Context, world: string): boolean {
  const team = teamOf(context);
  return team === undefined || isWorldOf(team, world);
}

function renderWorld(
  { name, isOpen, now, seq, historyId, sizeBytes, error }: WorldInfo,
  context: Context,
  cell: string | undefined,
) {
  const origin = originOf(context, cell);
  const base = name === "default" ? origin : `${origin}/w/${name}`;
  return omitUndefined({
    name,
    api_url: `${base}/api/v2`,
    control_url: `${base}/_sim`,
    // False: closed until its next use, so its clock is where it was left.
    open: isOpen,
    now: formatInstant(now),
    seq,
    history_id: historyId,
    size_bytes: sizeBytes,
    error,
  });
}

/** The address that the client used. Only a cell trusts the headers of a router, which clients could set too. */
function originOf({ req }: Context, cell: string | undefined): string {
  const { protocol, host } = new URL(req.url);
  if (cell === undefined) return `${protocol}//${host}`;
  return `${req.header("x-forwarded-proto") ?? protocol.slice(0, -1)}://${req.header("x-forwarded-host") ?? host}`;
}
