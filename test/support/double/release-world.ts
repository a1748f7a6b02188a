import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryDirectory } from "../process/process.ts";
import { openStorageDouble } from "./storage-double.ts";

const FIXTURES = join(import.meta.dirname, "../../replay/fixtures");
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

/** A copy of the world that a release left, with a key of its account. */
export async function openReleaseWorld(release: string, durations?: "constant" | "varied") {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  mkdirSync(`${path}/worlds`);
  copyFileSync(join(FIXTURES, release, "world.sqlite"), `${path}/worlds/default.sqlite`);
  const stored = await openStorageDouble(path, { ...AS_IT_IS, operations: "timed", durations });
  onTestFinished(stored.end);
  const double = stored.double();
  await double.sim("PUT", "/clock", { mode: "manual" });
  const { key } = (await double.sim("POST", "/api_keys", { key_name: "mine" })).body;
  return { stored, double, key };
}
