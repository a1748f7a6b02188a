import { isoInstant } from "../../kernel/calendar.ts";
import { END_OF_TIME, type SimTime } from "../../kernel/time.ts";
import { ACTIVITY_KINDS } from "../../platform/model/activity.ts";
import { NO_CONNECTION } from "../../traffic/generated/arrivals.ts";
import type { RecordedTraffic } from "../../traffic/recorded/read-recording.ts";
import type { ControlCall } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { readRecordingFile } from "../run/recording-file.ts";
import { CliError } from "../terminal/cli-error.ts";

/** Activities of a call, below the limit of `POST /_sim/activity`. */
const ARRIVALS_PER_CALL = 5_000;

/** The longest source that `POST /_sim/activity` takes. */
const MAX_SOURCE_LENGTH = 256;

/** Numbers of arrivals of a recording that were scheduled or not. */
export type ScheduledRecording = {
  readonly now: SimTime;
  readonly scheduled: number;
  /** Arrivals at or before the current instant of the world, which are not scheduled. */
  readonly earlier: number;
  /** Arrivals at or after `until`, which are not scheduled. */
  readonly later: number;
  /** Computes of the recording that the world does not have, and their arrivals. */
  readonly unknown: Readonly<Record<string, number>>;
};

/** Schedules all arrivals of a recording after the current instant of a world, at their recorded instants. */
export async function scheduleRecording(
  call: ControlCall,
  file: string,
  until: SimTime,
  signal: AbortSignal,
): Promise<ScheduledRecording> {
  const recording = await read(file, signal);
  const { now: nowText, endpoints } = await callRoute(call, "GET /endpoints");
  const now = Date.parse(nowText);
  const known = new Set(endpoints.map(({ endpoint_id }) => endpoint_id));
  const counts = { scheduled: 0, earlier: 0, later: 0 };
  const unknown: Record<string, number> = {};
  let batch: object[] = [];
  const send = async () => {
    if (batch.length === 0) return;
    if (signal.aborted) throw new CliError(`interrupted after ${counts.scheduled} scheduled arrivals`);
    await callRoute(call, "POST /activity", { body: batch });
    counts.scheduled += batch.length;
    batch = [];
  };
  for (const [endpoint, { at }] of recording.endpoints) {
    if (!known.has(endpoint)) {
      unknown[endpoint] = at.length;
      continue;
    }
    for (let index = 0; index < at.length; index += 1) {
      if ((at[index] as number) <= now) counts.earlier += 1;
      else if ((at[index] as number) >= until) counts.later += 1;
      else batch.push(activityAt(recording, endpoint, index));
      if (batch.length === ARRIVALS_PER_CALL) await send();
    }
  }
  await send();
  return { now, ...counts, unknown };
}

async function read(file: string, signal: AbortSignal): Promise<RecordedTraffic> {
  const format = file.endsWith(".csv") ? "csv" : "ndjson";
  const recording = await readRecordingFile(file, { format, strict: true }, signal);
  if ("reason" in recording) throw new CliError(`--file: ${recording.reason}`);
  checkAccepted(file, recording);
  return recording;
}

/** Rejects what the control API would, before the first call, so that nothing is scheduled. */
function checkAccepted(file: string, { endpoints, sources }: RecordedTraffic): void {
  const long = sources.find((source) => source.length > MAX_SOURCE_LENGTH);
  if (long !== undefined)
    throw new CliError(
      `--file: ${file}: source: must have at most ${MAX_SOURCE_LENGTH} characters, got ${long.length}`,
    );
  for (const [endpoint, { at, durationMs }] of endpoints)
    for (let index = 0; index < at.length; index += 1)
      if ((at[index] as number) + (durationMs[index] as number) > END_OF_TIME)
        throw new CliError(`--file: ${file}: duration: a request at ${endpoint} ends after the year 9999`);
}

function activityAt({ endpoints, sources }: RecordedTraffic, endpoint: string, index: number): object {
  const columns = endpoints.get(endpoint);
  if (columns === undefined) throw new Error(`the recording has no endpoint ${endpoint}`);
  const [connection, source] = [columns.connection[index], sources[columns.source[index] ?? 0]];
  return {
    endpoint_id: endpoint,
    at: isoInstant(columns.at[index] as SimTime),
    kind: ACTIVITY_KINDS[columns.kind[index] ?? 0],
    duration_ms: columns.durationMs[index],
    queries: columns.queries[index],
    ...(connection === NO_CONNECTION ? {} : { connection_id: `${endpoint}-${connection}` }),
    ...(source === "" ? {} : { source }),
  };
}
