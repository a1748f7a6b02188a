import { fromRecord } from "../../control/routes/records.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { WorldSettings } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { WorldSetting } from "../../whatif/report/question.ts";
import { FORGOTTEN, worldSetting } from "../../whatif/report/world-defaults.ts";
import type { Traffic } from "../../whatif/trace/known-traffic.ts";
import { type KnownCompute, WorldTraffic } from "../../whatif/trace/world-traffic.ts";
import type { Call } from "../client/client.ts";

const EVENTS_AT_ONCE = 10_000;

/** A project, its computes, and what they may use in a month, in CU-seconds. */
export type WorldProject = {
  readonly project: string;
  readonly endpoints: readonly string[];
  readonly computeSeconds: number | undefined;
};

type ReadWorld = {
  readonly traffic: Traffic;
  /** What these computes of the traffic have, and what is worth saying of it. */
  readonly about: (names: readonly string[]) => { readonly setting: WorldSetting; readonly notes: readonly string[] };
  readonly projects: readonly WorldProject[];
};

/** What a world's journal tells, and what its computes have, by its control API; of what comes before `until`. */
export async function readWorld(call: Call, until: SimTime | undefined): Promise<ReadWorld> {
  const reading = new WorldTraffic(until);
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
  const { now } = await call<{ now: string }>("GET", "/clock");
  const state = await call<State>("GET", "/state");
  const traffic = reading.traffic(Date.parse(now));
  const computes = reading.computes(state.endpoints.map((endpoint) => fromRecord(endpoint) as KnownCompute));
  const settings = fromRecord(state.world) as WorldSettings;
  return {
    traffic,
    about(names) {
      const { setting, notes } = worldSetting(settings, computes, names);
      return { setting, notes: isForgotten ? [FORGOTTEN, ...notes] : notes };
    },
    projects: projectsOf(state, computes),
  };
}

type State = {
  readonly world: object;
  readonly projects: readonly { readonly id: string; readonly settings: { readonly quota?: { readonly compute_time_seconds?: number } } }[];
  readonly endpoints: readonly object[];
};

/** A project that is gone for good has computes still, and no quota. */
function projectsOf({ projects }: State, computes: readonly KnownCompute[]): WorldProject[] {
  const quotas = new Map(projects.map(({ id, settings: { quota } }) => [id, quota?.compute_time_seconds ?? 0]));
  return [...new Set(computes.map(({ projectId }) => projectId))].map((project) => {
    const seconds = quotas.get(project) ?? 0;
    return {
      project,
      endpoints: computes.filter(({ projectId }) => projectId === project).map(({ id }) => id),
      // S: 0 is no limit.
      computeSeconds: seconds > 0 ? seconds : undefined,
    };
  });
}
