import { controlIn, get, getOf, RequestFailed, WORLD_NAME } from "../client/request.ts";
import { STATE_FIELDS, type WorldEvent, type WorldState } from "../client/types.ts";
import { formatDuration, formatInstant, formatNumber } from "./format.ts";
import { notify } from "./notices.ts";
import { ask } from "./question.ts";
import { changes, computes } from "./world.ts";

const EVENTS_PER_CALL = 10_000;
/** Connections of Postgres clients have names of their own, which others cannot use. */
const CLIENT_CONNECTION = /^pg-/;

type Arrival = WorldEvent & {
  readonly type: "ActivityRecorded";
  readonly scheduled?: number;
  readonly activity: { readonly endpoint_id: string; readonly connection_id?: string };
};

/** Asks for a fork of the past in which this world's arrivals come again under another delay. */
export async function askForReplay(delaySeconds: number): Promise<void> {
  const arrivals = await readArrivals();
  const begin = Math.max(0, ...computes.peek().map(({ created_at }) => Date.parse(created_at)));
  const first = arrivals.find(({ at }) => Date.parse(at) > begin);
  const delay = formatDuration(delaySeconds * 1_000);
  ask({
    title: `Fork and replay with ${delay}`,
    text: `The fork begins at the instant below. Its computes suspend after ${delay}, this world's arrivals come again, and the clock advances to the present. Work of Postgres clients is not repeated.`,
    fields: [
      { name: "name", label: "Name of the new world", placeholder: "replayed", isRequired: true },
      {
        name: "from",
        label: "From",
        value: new Date(first === undefined ? begin : Date.parse(first.at) - 1).toISOString(),
        hint: "By default, before the first arrival after all computes were created.",
        isRequired: true,
      },
    ],
    action: "Fork and replay",
    onSubmit: async ({ name = "", from = "" }) => {
      await controlIn(WORLD_NAME, "POST", "/worlds", { name, from: WORLD_NAME, at: from, clock: "manual" });
      changes.value += 1;
      const fields = `${STATE_FIELDS},scheduled_activities`;
      const state = await getOf<ForkedState>(name, `/state?fields=${fields}`);
      const failed = await setDelays(name, state, delaySeconds);
      const repeated = await repeat(name, state, arrivals);
      const { now } = await get<{ now: string }>("/clock");
      await controlIn(name, "POST", "/clock/advance", { to: now });
      changes.value += 1;
      if (failed.length > 0) notify("error", `The delay of some computes was not set: ${failed.join(", ")}`);
      notify(
        "done",
        `World ${name} had ${formatNumber(repeated)} arrivals again up to ${formatInstant(now)}.`,
        {
          label: "Open",
          run: () => window.open(`/w/${name}/`, "_blank", "noopener"),
        },
      );
    },
  });
}

type ForkedState = WorldState & { readonly scheduled_activities: readonly { readonly number: number }[] };

async function readArrivals(): Promise<readonly Arrival[]> {
  const arrivals: Arrival[] = [];
  for (let since = 0; ; ) {
    const { events, next_since } = await get<{ events: readonly WorldEvent[]; next_since: number }>(
      `/events?since=${since}&limit=${EVENTS_PER_CALL}`,
    );
    arrivals.push(...events.filter((event): event is Arrival => event.type === "ActivityRecorded"));
    if (events.length < EVENTS_PER_CALL) return arrivals;
    since = next_since;
  }
}

/** Returns the computes that were left as they are. */
async function setDelays(name: string, state: ForkedState, seconds: number): Promise<readonly string[]> {
  const accountOf = new Map(state.projects.map(({ id, account_id }) => [id, account_id]));
  const failed: string[] = [];
  for (const { id, project_id } of state.endpoints) {
    const path = `/accounts/${accountOf.get(project_id)}/api/v2/projects/${project_id}/endpoints/${id}`;
    try {
      await controlIn(name, "PATCH", path, { endpoint: { suspend_timeout_seconds: seconds } });
    } catch (error) {
      // An operation is in progress, or the compute is deleted.
      if (!(error instanceof RequestFailed)) throw error;
      failed.push(`${id} (${error.message})`);
    }
  }
  return failed;
}

/** Sends the arrivals after the beginning of the fork, except those that it knows already. */
async function repeat(name: string, state: ForkedState, arrivals: readonly Arrival[]): Promise<number> {
  const ids = new Set(state.endpoints.map(({ id }) => id));
  const known = new Set(state.scheduled_activities.map(({ number }) => number));
  const later = arrivals.filter(({ seq, activity }) => seq > state.seq && ids.has(activity.endpoint_id));
  const sent = later.filter(({ scheduled }) => scheduled === undefined || !known.has(scheduled));
  for (let index = 0; index < sent.length; index += EVENTS_PER_CALL) {
    const batch = sent.slice(index, index + EVENTS_PER_CALL);
    await controlIn(name, "POST", "/activity", batch.map(inputOf));
  }
  return later.length;
}

function inputOf({ at, activity }: Arrival): object {
  const { connection_id, ...rest } = activity;
  const isClient = connection_id === undefined || CLIENT_CONNECTION.test(connection_id);
  return { at, ...rest, ...(isClient ? {} : { connection_id }) };
}
