import { DAY } from "../../../src/kernel/time.ts";
import type { Double } from "./double.ts";

/** Schedules queries in the far future, in one commit. The world gets as many events. */
export async function scheduleActivities({ world }: Double, count: number): Promise<void> {
  await world.transact(({ world, now, execute }) => {
    const [{ id: endpointId } = { id: "" }] = world.computes.values();
    for (let index = 0; index < count; index += 1)
      execute({
        type: "ScheduleActivity",
        at: now + 365 * DAY + index,
        activity: { endpointId, kind: "query", durationMs: 1 },
      });
  });
}
