import { createHash } from "node:crypto";
import { renderState } from "../../control-api/routes/state.ts";
import { emptyWorld, type World } from "../../platform/world/world.ts";

/** A short hash of the state of a world. */
export function worldDigest(world: World): string {
  const { hourlyUsage } = world;
  // There may be hundreds of thousands of rows, so each is hashed as a short text.
  const hours = hourlyUsage
    .toArray()
    .map(({ of, hour, activeMs, cuMs }) => `${of} ${hour} ${activeMs} ${cuMs}`)
    .sort();
  const rest = renderState({ ...world, hourlyUsage: emptyWorld().hourlyUsage });
  return createHash("sha256").update(JSON.stringify(rest)).update(hours.join()).digest("hex").slice(0, 16);
}
