import { messageOf } from "../kernel/message-of.ts";
import type { HostedWorld } from "./hosted-world.ts";
import type { StoredWorldInfo, WorldInfo } from "./world-handle.ts";

/** Summary of a world; `stored` reads that of a world that is not open. */
export function infoOf(
  name: string,
  world: HostedWorld | undefined,
  stored: () => StoredWorldInfo,
): WorldInfo {
  if (world === undefined || world.isDormant) return { name, isOpen: false, ...stored() };
  try {
    const { id, seq } = world.history();
    return { name, isOpen: true, now: world.now(), seq, historyId: id, sizeBytes: world.sizeBytes() };
  } catch (error) {
    // A world that is being restored or cannot be opened is listed too.
    return {
      name,
      isOpen: true,
      now: 0,
      seq: 0,
      historyId: "",
      sizeBytes: 0,
      error: messageOf(error),
    };
  }
}
