import type { SimTime } from "../../kernel/time.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { readWorldProfile } from "../terminal/profile-option.ts";
import { worldNameAt } from "./world-name.ts";
import { writeRecordedWorld } from "./write-recorded-world.ts";

export type WorldOfPullRequest = {
  /** File of `standin account pull`. */
  readonly file: string;
  readonly data: string;
  /** The begin of the names of the worlds. */
  readonly world: string;
  readonly profile: string;
  readonly seed: number;
};

/** The world of a pull, and whether it was there already. */
export type WorldOfPull = { readonly world: string; readonly isNew: boolean };

/**
 * Creates a world with the past of an account until its last pull, unless there is one. A world that has gone on by itself
 * is not changed: what happened since would contradict what it has decided.
 */
export async function createWorldOfPull(
  { data, world, profile, ...request }: WorldOfPullRequest,
  lastPullAt: SimTime,
): Promise<WorldOfPull> {
  const name = worldNameAt(world, lastPullAt);
  if (worldsIn(data).includes(name)) return { world: name, isNew: false };
  const recorded = { ...request, data, world: name, profile: await readWorldProfile(profile) };
  writeRecordedWorld({ ...recorded, wallNow: Date.now() });
  return { world: name, isNew: true };
}

function worldsIn(data: string): readonly string[] {
  const directory = openDataDirectory(data);
  try {
    return directory.worlds();
  } finally {
    directory.release();
  }
}
