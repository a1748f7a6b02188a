import { MemoryWorldStorage } from "../../../src/worlds/memory-world-storage.ts";
import type { OpenHistory, WorldStorage } from "../../../src/worlds/world-storage.ts";

/** A storage of one world, which is opened in this way. */
export function storageOf(open: OpenHistory): WorldStorage {
  class OneWorld extends MemoryWorldStorage {
    override history(): OpenHistory {
      return open;
    }
  }
  return new OneWorld(Date.now, () => "history");
}
