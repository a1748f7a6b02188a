import { fromRecord } from "../control/records.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Delay } from "../whatif/curve.ts";
import { commonDelay } from "../whatif/report/question.ts";
import type { Traffic } from "../whatif/report/traffic.ts";
import { WorldTraffic } from "../whatif/report/world-traffic.ts";
import type { Call } from "./client.ts";

const EVENTS_AT_ONCE = 10_000;

/** A project, its computes, and what they may use in a month, in CU-seconds. */
export type WorldProject = {
  readonly project: string;
  readonly endpoints: readonly string[];
  readonly computeSeconds: number | undefined;
};

export type ReadWorld = {
  readonly traffic: Traffic;
  readonly present: Delay | undefined;
  /** Where they were asked for. */
  readonly projects: readonly WorldProject[] | undefined;
  readonly isForgotten: boolean;
};

/** What a world's journal tells, by its control API; `present` is the delay that its computes have, where all have the same. */
export async function readWorld(call: Call, withProjects: boolean): Promise<ReadWorld> {
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
    projects: withProjects ? await readProjects(call) : undefined,
    isForgotten,
  };
}

async function readProjects(call: Call): Promise<WorldProject[]> {
  const { projects, endpoints } = await call<{
    projects: { id: string; settings: { quota?: { compute_time_seconds?: number } } }[];
    endpoints: { id: string; project_id: string }[];
  }>("GET", "/state");
  return projects.map(({ id, settings: { quota } }) => ({
    project: id,
    endpoints: endpoints.filter(({ project_id }) => project_id === id).map((endpoint) => endpoint.id),
    // S: 0 is no limit.
    computeSeconds: (quota?.compute_time_seconds ?? 0) > 0 ? quota?.compute_time_seconds : undefined,
  }));
}
