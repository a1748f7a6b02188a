import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import { readHead } from "../../store/file/world-snapshot.ts";
import { DataDirectory } from "../../worlds/data-directory.ts";
import { worldFilePath } from "../../worlds/directory-layout.ts";
import { readShadowRecord, writeShadowRecord } from "../../worlds/shadow-record.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { CliError } from "../terminal/cli-error.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";
import { accountReport } from "./account-report.ts";
import { writeRecordedWorld } from "./write-recorded-world.ts";

export type WorldOfPullRequest = {
  /** File of `standin account pull`. */
  readonly file: string;
  readonly data: string;
  readonly world: string;
  readonly profile: string;
  readonly seed: number;
  /** Stored beside the world, for the console. */
  readonly agreement: NonNullable<ControlAnswer<"GET /shadow">["agreement"]>;
};

/** The world of a file, and whether there was none of this name. */
export type WorldOfPull = { readonly isNew: boolean; readonly events: number };

/**
 * Writes the past of an account until its last pull into a world. A world of this name gets what happened since, unless
 * somebody has changed it. It is written as a whole, because a pull shows more of the past than the one before it: how an
 * operation ended, and when a compute was used last. So it is the world that one pull of everything gives.
 */
export async function writeWorldOfPull({
  agreement,
  profile,
  ...request
}: WorldOfPullRequest): Promise<WorldOfPull> {
  const report = await accountReport(request.file, profile);
  const recorded = { ...request, profile: await readWorldProfile(profile), report, wallNow: Date.now() };
  let isNew = true;
  const { events } = writeRecordedWorld(recorded, {
    checkName(directory, world) {
      isNew = !directory.worlds().includes(world);
      if (!isNew) checkUnchanged(directory, world);
    },
    beforeMove(directory, world, head) {
      if (head === undefined) throw new Error("the written world has no end");
      // After a kill, one of the two is the end of the world.
      const heads = isNew ? [head] : [head, headOf(directory, world)];
      writeShadowRecord(directory.path, world, { heads, agreement });
    },
  });
  return { isNew, events };
}

/** Throws if the world exists and its past cannot be continued. */
export function checkWorldOfPull(data: string, world: string): void {
  if (!DataDirectory.hasWorld(data, world)) return;
  const directory = openDataDirectory(data);
  try {
    checkUnchanged(directory, world);
  } finally {
    directory.release();
  }
}

function checkUnchanged(directory: DataDirectory, world: string): void {
  const record = readShadowRecord(directory.path, world);
  if (record === undefined)
    throw new CliError(
      `--world: ${directory.path} has a world "${world}" that standin shadow did not create; choose another --world or --data`,
    );
  const { historyId, seq, chain, now } = headOf(directory, world);
  const isWritten = record.heads.some(
    (head) => head.historyId === historyId && head.seq === seq && head.chain === chain && head.now === now,
  );
  if (isWritten) return;
  const own = record.heads.find((head) => head.historyId === historyId);
  throw new CliError(
    `--world: the world "${world}" ${own === undefined ? "was replaced by another history" : changeSince(own, { seq, now })}, so what happened since the last pull would contradict its history; keep it and choose another --world, or delete it with: standin worlds delete ${world}`,
  );
}

type End = { readonly seq: number; readonly now: number };

function changeSince(written: End, { seq, now }: End): string {
  const changes = [
    ...(now === written.now
      ? []
      : [`its clock has gone on from ${isoInstant(written.now)} to ${isoInstant(now)}`]),
    ...(seq === written.seq ? [] : [`its history has ${seq - written.seq} more events`]),
  ];
  return `was changed after standin shadow wrote it: ${changes.join(", and ")}`;
}

function headOf(directory: DataDirectory, world: string) {
  const head = readHead(worldFilePath(directory.path, world));
  if (head !== undefined) return head;
  throw new CliError(
    `--world: the world "${world}" is of another release; open it once with: standin serve, or choose another --world`,
  );
}
