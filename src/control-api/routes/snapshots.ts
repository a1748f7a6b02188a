import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import { AUTOMATIC_PREFIX, BACKUP_PREFIX, type SnapshotInfo } from "../../worlds/world-handle.ts";
import { snapshotName } from "../http/control-fields.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

/** Named snapshots of a world. */
export function snapshotRoutes(): readonly ControlApiRoute[] {
  return [listSnapshots, takeSnapshot, getSnapshot, restoreSnapshot, deleteSnapshot];
}

const listSnapshots = route("GET /snapshots", {}, ({ world, server }) => ({
  snapshots: server.worlds.snapshots(world.name).map(renderSnapshot),
}));

const takeSnapshot = route(
  "POST /snapshots",
  { body: z.strictObject({ name: snapshotName }), status: 201 },
  async ({ world, server, body: { name } }) => ({
    snapshot: renderSnapshot(unwrap(await server.worlds.takeSnapshot(world.name, name))),
  }),
);

const getSnapshot = route("GET /snapshots/:name", {}, ({ world, params, server }) => {
  const name = params["name"] ?? "";
  const snapshot = server.worlds.snapshots(world.name).find((info) => info.name === name);
  if (snapshot === undefined)
    return unwrap(refuse("SNAPSHOT_NOT_FOUND", `there is no snapshot "${name}" of world "${world.name}"`));
  return { snapshot: renderSnapshot(snapshot) };
});

const restoreSnapshot = route(
  "POST /snapshots/:name/restore",
  { body: z.strictObject({}).optional() },
  async ({ world, params, server }) => {
    const { previousName, info } = unwrap(await server.worlds.restore(world.name, params["name"] ?? ""));
    return {
      restored: params["name"],
      former_kept_as: previousName,
      now: formatInstant(info.now),
      seq: info.seq,
      history_id: info.historyId,
    };
  },
);

const deleteSnapshot = route("DELETE /snapshots/:name", {}, async ({ world, params, server }) => {
  const name = params["name"] ?? "";
  unwrap(await server.worlds.removeSnapshot(world.name, name));
  return { name, deleted: true };
});

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
