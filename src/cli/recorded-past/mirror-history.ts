import { isoInstant } from "../../kernel/calendar.ts";
import { printable } from "../../ports/server-api.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";
import { accountReport } from "./account-report.ts";
import type { RecordedWorld } from "./write-recorded-world.ts";

export type MirrorHistoryOptions = {
  readonly history: string;
  readonly data: string;
  readonly world: string;
  readonly profile: string;
  readonly seed: number;
};

/** Omissions that are printed; all are in the JSON. */
const SHOWN_OMISSIONS = 20;

/** `standin mirror --history`: a world whose past is that of an account. */
export async function mirrorHistory({ history: file, data, world, profile, seed }: MirrorHistoryOptions) {
  const { writeRecordedWorld } = await import("./write-recorded-world.ts");
  const report = await accountReport(file, profile);
  const request = { file, data, world, profile: await readWorldProfile(profile), report, seed };
  const written = writeRecordedWorld({ ...request, wallNow: Date.now() });
  const { projects, computes, events, startAt, now, omissions } = written;
  const json = {
    ...{ file, data, world, projects, endpoints: computes, events },
    ...{ start_at: isoInstant(startAt), now: isoInstant(now), left_out: omissions },
  };
  return { json, text: describe(written, file, data, world) };
}

function describe(
  { projects, computes, events, startAt, now, omissions }: RecordedWorld,
  file: string,
  data: string,
  world: string,
): string {
  const name = world === "default" ? "" : ` --world ${world}`;
  const lines = [
    `created world "${world}" in ${data} from ${file}: ${plural(projects, "project")}, ${plural(computes, "compute")}, ${plural(events, "event")}`,
    `its past is recorded from ${isoInstant(startAt)} to ${isoInstant(now)}; from then on it follows the rules, on a manual clock`,
    "requests within a period are not known: each period is one request, from the start to the last use that its delay allows",
    ...omissions.slice(0, SHOWN_OMISSIONS).map(({ what, because }) => `skipped ${what}: ${because}`),
    ...(omissions.length > SHOWN_OMISSIONS
      ? [`and ${omissions.length - SHOWN_OMISSIONS} more: see --json`]
      : []),
    `use it with: standin serve --data ${data}`,
    ...(name === "" ? [] : [`create a key with: standin keys create me --data ${data}${name}`]),
  ];
  return `${lines.map(printable).join("\n")}\n`;
}
