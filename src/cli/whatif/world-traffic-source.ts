import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { parseObject } from "../../control-api/http/render-object.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import type { WorldDefaults } from "../../whatif/input/question.ts";
import { notesOnTraffic, worldDefaults } from "../../whatif/input/world-defaults.ts";
import type { Traffic } from "../../whatif/trace/traffic.ts";
import { type KnownCompute, WorldTraffic } from "../../whatif/trace/world-traffic.ts";
import type { ControlCall } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";

const EVENTS_PER_PAGE = 10_000;

/** A project, its computes, and its monthly quota in CU-seconds. */
export type WorldProject = {
  readonly project: string;
  readonly endpoints: readonly string[];
  readonly computeSeconds: number | undefined;
};

type ReadWorldResult = {
  readonly traffic: Traffic;
  /** Settings of these computes, and notes for the user. */
  readonly settingFor: (selected: Traffic) => {
    readonly setting: WorldDefaults;
    readonly notes: readonly string[];
  };
  readonly projects: readonly WorldProject[];
};

/**
 * Reads traffic before `until` (exclusive) from the journal of a world, and its settings, through the control
 * API.
 */
export async function readWorldTraffic(
  call: ControlCall,
  until: SimTime | undefined,
): Promise<ReadWorldResult> {
  const worldTraffic = new WorldTraffic(until);
  let isTruncated = false;
  for (let since = 0; ; ) {
    const page = await callRoute(call, "GET /events", { query: { since, limit: EVENTS_PER_PAGE } });
    isTruncated ||= page.forgotten_seq !== undefined;
    for (const event of page.events) worldTraffic.add(parseObject(event) as RecordedEvent);
    if (page.events.length < EVENTS_PER_PAGE) break;
    since = page.next_since;
  }
  const { now } = await callRoute(call, "GET /clock");
  const {
    world,
    projects = [],
    endpoints = [],
  } = await callRoute(call, "GET /state", {
    query: { fields: "world,projects,endpoints" },
  });
  const readAt = Date.parse(now);
  const traffic = worldTraffic.traffic(readAt);
  const computes = worldTraffic.computes(endpoints.map((endpoint) => parseObject(endpoint) as KnownCompute));
  const settings = parseObject(world) as WorldSettings;
  return {
    traffic,
    settingFor({ computes: names, period }) {
      const metered = worldTraffic.usage(names, period, readAt);
      const { setting, notes } = worldDefaults(settings, computes, names, metered);
      return { setting, notes: [...notesOnTraffic(traffic, isTruncated), ...notes] };
    },
    projects: worldProjects(projects, computes),
  };
}

/** A purged project still has computes in the journal, but no quota. */
function worldProjects(
  projects: NonNullable<ControlAnswer<"GET /state">["projects"]>,
  computes: readonly KnownCompute[],
): WorldProject[] {
  const quotas = new Map(
    projects.map(({ id, settings: { quota } }) => [id, quota?.compute_time_seconds ?? 0]),
  );
  return [...new Set(computes.map(({ projectId }) => projectId))].map((project) => {
    const seconds = quotas.get(project) ?? 0;
    return {
      project,
      endpoints: computes.filter(({ projectId }) => projectId === project).map(({ id }) => id),
      // S: 0 means no limit.
      computeSeconds: seconds > 0 ? seconds : undefined,
    };
  });
}
