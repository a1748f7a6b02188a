import { createHash } from "node:crypto";
import { renderState } from "../control/routes/state.ts";
import { emptyWorld, type World } from "../platform/core/world.ts";

/** What a world has come to, in few characters. */
export function worldDigest(world: World): string {
  const { hourlyUsage } = world;
  // Of these there may be hundreds of thousands, and each is a few numbers.
  const hours = hourlyUsage
    .toArray()
    .map(({ of, hour, activeMs, cuMs }) => `${of} ${hour} ${activeMs} ${cuMs}`)
    .sort();
  const rest = renderState({ ...world, hourlyUsage: emptyWorld().hourlyUsage });
  return createHash("sha256").update(JSON.stringify(rest)).update(hours.join()).digest("hex").slice(0, 16);
}
