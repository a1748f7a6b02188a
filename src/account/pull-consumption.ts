import { DAY, HOUR } from "../kernel/time.ts";
import { bodyOf } from "../remote/client/read-lists.ts";
import { consumptionPage, type ProjectAnswer } from "./account-answers.ts";
import type { AccountWriter } from "./account-writer.ts";
import { type CountedApi, checked } from "./counted-api.ts";

/** D: the most projects in one answer about consumption. */
export const PROJECTS_PER_CONSUMPTION = 100;
/** D: retention of each granularity. */
const RETAINED = { hourly: 167 * HOUR, daily: 59 * DAY } as const;

/** Returns notes about what the plan does not allow to read. */
export async function readConsumption(
  api: CountedApi,
  writer: AccountWriter,
  projects: readonly ProjectAnswer[],
): Promise<readonly string[]> {
  const notes: string[] = [];
  const byOrganization = new Map<string, string[]>();
  for (const { id, org_id } of projects) {
    const organization = org_id ?? "";
    byOrganization.set(organization, [...(byOrganization.get(organization) ?? []), id]);
  }
  for (const granularity of ["hourly", "daily"] as const) {
    for (const [organization, ids] of byOrganization) {
      for (let from = 0; from < ids.length; from += PROJECTS_PER_CONSUMPTION) {
        const note = await readConsumptionOf(
          api,
          writer,
          granularity,
          organization,
          ids.slice(from, from + PROJECTS_PER_CONSUMPTION),
        );
        if (note !== undefined && !notes.includes(note)) notes.push(note);
      }
    }
  }
  return notes;
}

async function readConsumptionOf(
  api: CountedApi,
  writer: AccountWriter,
  granularity: keyof typeof RETAINED,
  organization: string,
  ids: readonly string[],
): Promise<string | undefined> {
  const now = api.serverTime;
  const unit = granularity === "hourly" ? HOUR : DAY;
  const from = Math.ceil((now - RETAINED[granularity]) / unit) * unit;
  const query = new URLSearchParams({
    ...{ granularity, limit: String(PROJECTS_PER_CONSUMPTION), project_ids: ids.join(",") },
    ...{ from: new Date(from).toISOString(), to: new Date(Math.floor(now / unit) * unit).toISOString() },
    ...(organization === "" ? {} : { org_id: organization }),
  });
  const path = `/consumption_history/projects?${query}`;
  const response = await api.get(path);
  if (response.status === 401) bodyOf(api, path, response);
  // R: only some plans have a history of consumption.
  if (response.status !== 200)
    return `no ${granularity} consumption: the server answered with status ${response.status}`;
  const { projects } = checked(api, path, response.body, consumptionPage);
  writer.addConsumption(
    projects.flatMap(({ project_id: project, periods }) =>
      periods.flatMap(({ consumption }) =>
        consumption.map((frame) => ({
          ...{ project, granularity, start_at: frame.timeframe_start, end_at: frame.timeframe_end },
          ...{ active_s: frame.active_time_seconds, compute_s: frame.compute_time_seconds },
        })),
      ),
    ),
  );
  return undefined;
}
