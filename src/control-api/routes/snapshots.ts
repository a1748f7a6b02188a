import { Hono } from "hono";
import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import { AUTOMATIC_PREFIX, BACKUP_PREFIX, type SnapshotInfo } from "../../worlds/world-handle.ts";
import { snapshotName } from "../http/control-fields.ts";
import { type ControlOptions, handler } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";

/** Named snapshots of a world. */
export function snapshotRoutes(options: ControlOptions): Hono {
  const { worlds } = options;
  const app = new Hono();

  app.get(
    "/snapshots",
    handler(options, {}, ({ world }) => ({ snapshots: worlds.snapshots(world.name).map(renderSnapshot) })),
  );

  app.post(
    "/snapshots",
    handler(
      options,
      { body: z.strictObject({ name: snapshotName }) },
      async ({ world, body: { name } }, context) =>
        context.json({ snapshot: renderSnapshot(unwrap(await worlds.takeSnapshot(world.name, name))) }, 201),
    ),
  );

  app.get(
    "/snapshots/:name",
    handler(options, {}, ({ world, params }) => {
      const name = params["name"] ?? "";
      const snapshot = worlds.snapshots(world.name).find((info) => info.name === name);
      if (snapshot === undefined)
        return unwrap(
          refuse("SNAPSHOT_NOT_FOUND", `there is no snapshot "${name}" of world "${world.name}"`),
        );
      return { snapshot: renderSnapshot(snapshot) };
    }),
  );

  app.post(
    "/snapshots/:name/restore",
    handler(options, { body: z.strictObject({}).optional() }, async ({ world, params }) => {
      const { previousName, info } = unwrap(await worlds.restore(world.name, params["name"] ?? ""));
      return {
        restored: params["name"],
        former_kept_as: previousName,
        now: formatInstant(info.now),
        seq: info.seq,
        history_id: info.historyId,
      };
    }),
  );

  app.delete(
    "/snapshots/:name",
    handler(options, {}, async ({ world, params }) => {
      const name = params["name"] ?? "";
      unwrap(await worlds.removeSnapshot(world.name, name));
      return { name, deleted: true };
    }),
  );

  return app;
}

function renderSnapshot({ name, createdAt, historyId, seq, now, sizeBytes, error }: SnapshotInfo) {
  const kind = name.startsWith(AUTOMATIC_PREFIX)
    ? "automatic"
    : name.startsWith(BACKUP_PREFIX)
      ? "backup"
      : "manual";
  return omitUndefined({
    name,
    kind,
    // Wall-clock time, because the world's own clock is independent of it.
    created_at: new Date(createdAt).toISOString(),
    now: formatInstant(now),
    seq,
    history_id: historyId,
    size_bytes: sizeBytes,
    error,
  });
}
