import { fromRecord } from "../control/records.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Delay } from "../whatif/curve.ts";
import { commonDelay } from "../whatif/report/question.ts";
import type { Traffic } from "../whatif/report/traffic.ts";
import { WorldTraffic } from "../whatif/report/world-traffic.ts";
import type { Call } from "./client.ts";

const EVENTS_AT_ONCE = 10_000;

export type ReadWorld = { readonly traffic: Traffic; readonly present: Delay | undefined; readonly isForgotten: boolean };

/** What a world's journal tells, by its control API; `present` is the delay that its computes have, where all have the same. */
export async function readWorld(call: Call): Promise<ReadWorld> {
  const reading = new WorldTraffic();
  let isForgotten = false;
  for (let since = 0; ; ) {
    const page = await call<{ events: object[]; next_since: number; forgotten_seq?: number }>(
      "GET",
      `/events?since=${since}&limit=${EVENTS_AT_ONCE}`,
    );
    isForgotten ||= page.forgotten_seq !== undefined;
    for (const event of page.events) reading.add(fromRecord(event) as RecordedEvent);
    if (page.events.length < EVENTS_AT_ONCE) break;
    since = page.next_since;
  }
  const { now, endpoints } = await call<{ now: string; endpoints: { autosuspend: { delay_s: number | null } }[] }>("GET", "/endpoints");
  return {
    traffic: reading.traffic(Date.parse(now)),
    present: commonDelay(endpoints.map(({ autosuspend }) => autosuspend.delay_s ?? "never")),
    isForgotten,
  };
}
