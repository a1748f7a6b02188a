import { MemoryShelf } from "../../src/worlds/memory-shelf.ts";
import type { OpenHistory, Shelf } from "../../src/worlds/shelf.ts";

/** A shelf of one world, which is opened so. */
export function shelfOf(open: OpenHistory): Shelf {
  class OneWorld extends MemoryShelf {
    override history(): OpenHistory {
      return open;
    }
  }
  return new OneWorld(Date.now, () => "history");
}
