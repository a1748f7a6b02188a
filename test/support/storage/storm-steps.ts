import { basename, dirname } from "node:path";
import { DEFAULT_WORLD } from "../../../src/worlds/directory-layout.ts";
import type { AnyBody, ApiResponse, Rejection } from "../answers/api-response.ts";
import type { Double } from "../double/double.ts";
import { doubleOfWorld } from "../double/storage-double.ts";
import type { Draw } from "./disk-image.ts";
import { type Ledger, snapshotFile, worldFile } from "./ledger.ts";

const SNAPSHOTS = ["s1", "s2", "s3"] as const;
const FORKS = ["f1", "f2"] as const;

/** The world of a step: the default one, or in seeds with copies also another one that exists. */
export function worldOfStep(double: Double, ledger: Ledger, draw: Draw): { name: string; double: Double } {
  const names = [DEFAULT_WORLD, OLDER_WORLD, ...FORKS];
  const name = names[draw(names.length)] as string;
  const isThere = name !== DEFAULT_WORLD && !ledger.contents(worldFile(name)).includes(undefined);
  return isThere ? { name, double: doubleOfWorld(double, name) } : { name: DEFAULT_WORLD, double };
}

/** The world whose file an older release has written. */
export const OLDER_WORLD = "older";

/** One or more requests at once. */
export async function takeStep(
  double: Double,
  projects: string[],
  draw: Draw,
): Promise<ApiResponse<Rejection>[]> {
  const request = (): Promise<ApiResponse<Rejection>> => {
    const project = `/projects/${projects[draw(projects.length)]}`;
    switch (draw(9)) {
      case 0:
        return double.api("POST", "/projects", { project: { name: "x".repeat(1 + draw(2_000) / 10) } });
      case 1:
        return double.api("POST", `${project}/branches`, { branch: {}, endpoints: [{ type: "read_write" }] });
      case 2:
        return double.api("PATCH", project, { project: { name: `name ${draw(1_000)}` } });
      case 3:
        return double.api("POST", "/api_keys", { key_name: `key ${draw(1_000)}` });
      case 4:
        return double.sim("POST", "/clock/advance", { by: `${1 + draw(30)}m` });
      case 5:
        return double.sim("POST", "/clock/advance", { by: "10s" });
      case 6:
        return double.api("GET", `${project}/operations`);
      case 7:
        return draw(2) === 0
          ? double.sim("DELETE", "/requests")
          : double.sim("POST", "/compact", { keep: `${1 + draw(3)}h` });
      default:
        return double.api("GET", "/projects");
    }
  };
  const burst = draw(3) === 0 ? 2 + draw(4) : 1;
  const answers = await Promise.all(Array.from({ length: burst }, request));
  for (const { status, body } of answers)
    if (status === 201 && "project" in body) projects.push((body as AnyBody).project.id);
  return answers;
}

/** Takes, restores or deletes a snapshot of a world, forks it, or deletes a fork. */
export async function takeCopyStep(
  double: Double,
  ledger: Ledger,
  draw: Draw,
): Promise<ApiResponse<Rejection>> {
  const world = worldOfStep(double, ledger, draw);
  const snapshot = SNAPSHOTS[draw(SNAPSHOTS.length)] as string;
  const fork = FORKS[draw(FORKS.length)] as string;
  switch (draw(6)) {
    case 0:
    case 1:
      return world.double.sim("POST", "/snapshots", { name: snapshot });
    case 2: {
      // A snapshot that exists, if there is one.
      const existing = [...ledger.state.keys()].filter(
        (file) => dirname(file) === `snapshots/${world.name}` && ledger.contents(file)[0] !== undefined,
      );
      const chosen = existing[draw(existing.length)] ?? snapshotFile(world.name, snapshot);
      return world.double.sim("POST", `/snapshots/${basename(chosen, ".sqlite")}/restore`);
    }
    case 3:
      return world.double.sim("DELETE", `/snapshots/${snapshot}`);
    case 4:
      return double.sim("POST", "/worlds", { name: fork, from: world.name });
    default:
      return double.sim("DELETE", `/worlds/${fork}`);
  }
}
