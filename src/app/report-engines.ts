import {
  chooseInstallation,
  describeInstallations,
  findInstallations,
  type Installation,
} from "../postgres/engine/installation.ts";
import { enginesDirectory } from "../postgres/engine/installed-engines.ts";
import { engineUser } from "../postgres/engine/os-user.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";
import type { EngineVersionRule, PostgresLog, PostgresOptions } from "./open-gateway.ts";

type ReportedOptions = Pick<PostgresOptions, "dataDirectory" | "engineBin" | "enginesData" | "engineVersion">;

/**
 * Logs which versions of Postgres are installed, or what to install if there is none, and which of the versions that
 * projects of open worlds have are missing. Clients can connect as soon as they are installed.
 */
export async function reportEngines(
  worlds: WorldsHandle,
  options: ReportedOptions,
  log: PostgresLog,
): Promise<void> {
  try {
    const installations = await findInstallations(options.engineBin, engineUser(), enginesDirectory(options));
    log.info(`Postgres versions: ${describeInstallations(installations)}`);
    const { dataDirectory, enginesData = dataDirectory, engineVersion } = options;
    for (const line of describeMissing(installations, projectsByVersion(worlds), engineVersion, enginesData))
      log.warn(line);
  } catch (error) {
    log.error(error, "Postgres clients will be rejected");
  }
}

/** The number of projects of each version, in ascending order. Deleted ones are not counted. */
function projectsByVersion(worlds: WorldsHandle): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const world of worlds.openWorlds())
    for (const { pgVersion, deletedAt } of world.peek().world.projects.values())
      if (deletedAt === undefined) counts.set(pgVersion, (counts.get(pgVersion) ?? 0) + 1);
  return new Map([...counts].sort(([one], [other]) => one - other));
}

/** One line for each version that projects have and that is not installed. `data`: where to install it. */
function describeMissing(
  installations: readonly Installation[],
  projects: ReadonlyMap<number, number>,
  rule: EngineVersionRule,
  data: string,
): readonly string[] {
  return [...projects].flatMap(([version, count]) => {
    const chosen = chooseInstallation(installations, version);
    if (chosen === undefined || chosen.version === version) return [];
    const missing = `Postgres ${version} is not installed, and ${count === 1 ? "1 project has" : `${count} projects have`} it`;
    if (rule === "nearest") return [`${missing}: computes run Postgres ${chosen.version} instead`];
    const remedy =
      chosen.origin === "option"
        ? "start the server without --engine-bin"
        : `run "standin engines install ${version} --data ${data}"`;
    return [`${missing}: clients are rejected; ${remedy}, or start it with --engine-version nearest`];
  });
}
