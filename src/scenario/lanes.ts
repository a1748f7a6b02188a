import type { Activity } from "../platform/activity.ts";
import type { SimTime } from "../platform/time.ts";

/** An instant that the world must reach before a lane goes on, and what arrives then, in its order with all else of that instant. */
export type Wake = { readonly at: SimTime; readonly arrival?: Activity };

/** Steps in their order, each of which waits for its instant. */
export type Lane = AsyncGenerator<Wake, void, void>;

/** Several lanes beside each other: the one whose instant is the earliest goes on first, of equals the first. Over when all are. */
export async function* beside(lanes: readonly Lane[]): Lane {
  const waiting: { readonly lane: Lane; wake: Wake }[] = [];
  for (const lane of lanes) {
    const next = await lane.next();
    if (next.done !== true) waiting.push({ lane, wake: next.value });
  }
  while (waiting.length > 0) {
    const earliest = waiting.reduce((one, other) => (other.wake.at < one.wake.at ? other : one));
    yield earliest.wake;
    const next = await earliest.lane.next();
    if (next.done === true) waiting.splice(waiting.indexOf(earliest), 1);
    else earliest.wake = next.value;
  }
}
