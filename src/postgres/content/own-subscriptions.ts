import { join } from "node:path";
import { readClusterFile, writeClusterFileDurably } from "../engine/cluster-files.ts";
import type { RunningEngine } from "../engine/engine.ts";
import { withOpenDatabases, withReadableName } from "./cluster-content.ts";
import { dropSubscriptions } from "./drop-subscriptions.ts";

/** The volume that the subscriptions of a cluster belong to. A copy has the file of its source, or none. */
export const SUBSCRIPTIONS_OWNER = "standin.subscriptions";

/** Whether the subscriptions of the cluster, if it has any, were created in this volume. */
export function ownsSubscriptions(dataDirectory: string, volumeId: string): boolean {
  return readClusterFile(join(dataDirectory, SUBSCRIPTIONS_OWNER)) === volumeId;
}

/**
 * D: a new branch has none of its parent's subscriptions, which would read the slots of those of the parent. Call it before
 * clients connect, and while workers are blocked. If the server is killed in between, the next start calls it again.
 */
export async function takeOverSubscriptions(
  engine: RunningEngine,
  dataDirectory: string,
  volumeId: string,
): Promise<void> {
  const databases = await engine.query(
    "SELECT DISTINCT d.oid, datname FROM pg_subscription JOIN pg_database d ON d.oid = subdbid ORDER BY d.oid",
  );
  if (databases.length > 0)
    await withOpenDatabases(engine, async () => {
      for (const { oid, datname } of databases)
        await withReadableName(engine, { oid: Number(oid), name: datname ?? "" }, (name) =>
          dropSubscriptions(engine, name),
        );
    });
  writeClusterFileDurably(join(dataDirectory, SUBSCRIPTIONS_OWNER), volumeId);
}
