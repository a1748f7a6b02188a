import type { Context } from "hono";
import { Hono } from "hono";
import * as z from "zod";
import { parseInput, unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { WorldInfo } from "../../worlds/world-handle.ts";
import { clockSetting, point, worldName } from "../http/control-fields.ts";
import { type ControlOptions, type DocumentedHandler, handler } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";

const settings = {
  from: worldName.optional(),
  at: point.optional(),
  clock: clockSetting.optional(),
  seed: z.int().min(0).optional(),
};
const fork = z.strictObject({ name: worldName, ...settings });
const creation = z.strictObject({ ...settings, if_exists: z.enum(["keep", "refuse"]).default("refuse") });

/** Lists, forks and deletes worlds. */
export function worldRoutes(options: ControlOptions): Hono {
  const { worlds } = options;
  const app = new Hono();

  app.get(
    "/worlds",
    handler(options, {}, (_, context) => ({
      worlds: worlds.list().map((world) => renderWorld(world, context, options.cell)),
    })),
  );

  app.post(
    "/worlds",
    handler(options, { body: fork }, async ({ world, body: { from = world.name, ...input } }, context) => {
      const forked = unwrap(await worlds.fork({ ...input, from }));
      return context.json({ world: { ...renderWorld(forked, context, options.cell), from } }, 201);
    }),
  );

  app.get(
    "/worlds/:name",
    handler(options, {}, ({ params }, context) => {
      const { name } = unwrap(worlds.world(params["name"] ?? ""));
      const info = worlds.list().find((world) => world.name === name);
      return { world: info && renderWorld(info, context, options.cell) };
    }),
  );

  app.delete(
    "/worlds/:name",
    handler(options, {}, async ({ params }) => {
      const name = params["name"] ?? "";
      unwrap(await worlds.remove(name));
      return { name, deleted: true };
    }),
  );

  return app;
}

/**
 * `PUT /w/<name>/_sim/world` creates the world that its path names, as a fork, so that a router in front of several
 * servers knows from the path which of them gets it.
 */
export function worldCreation(options: ControlOptions): DocumentedHandler {
  const { worlds, defaultWorld } = options;
  return handler(
    { ...options, worldOf: defaultWorld },
    { body: creation },
    async ({ world, params, body: { from = world.name, if_exists, ...input } }, context) => {
      const name = parseInput(worldName, params["world"] ?? world.name, "world");
      const existing = worlds.list().find((info) => info.name === name);
      if (existing !== undefined && if_exists === "keep")
        return { world: renderWorld(existing, context, options.cell), created: false };
      const forked = unwrap(await worlds.fork({ ...input, name, from }));
      return { world: { ...renderWorld(forked, context, options.cell), from }, created: true };
    },
  );
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
