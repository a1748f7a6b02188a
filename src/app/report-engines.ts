import {
  chooseInstallation,
  describeInstallations,
  findInstallations,
  type Installation,
} from "../postgres/installations/installation.ts";
import { enginesDirectory } from "../postgres/installations/installed-engines.ts";
import { engineUser } from "../postgres/machine/os-user.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";
import type { EngineVersionRule, PostgresLog, PostgresOptions } from "./open-gateway.ts";

type ReportedOptions = Pick<PostgresOptions, "dataDirectory" | "engineBin" | "enginesData" | "engineVersion">;

/**
 * Logs which versions of Postgres are installed, or what to install if there is none, and which of the versions that
 * projects have are missing. Clients can connect as soon as they are installed.
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
    const projects = countByVersion(await worlds.projectVersions());
    for (const line of describeMissing(installations, projects, engineVersion, enginesData)) log.warn(line);
  } catch (error) {
    log.error(error, "Postgres clients will be rejected");
  }
}

/** The number of projects of each version, in ascending order. */
function countByVersion(versions: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const version of versions) counts.set(version, (counts.get(version) ?? 0) + 1);
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
