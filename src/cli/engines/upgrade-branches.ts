import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openPostgresEngine } from "../../app/open-gateway.ts";
import { openWorlds } from "../../app/open-worlds.ts";
import { DEFAULT_MAX_BRANCH_HISTORY } from "../../app/postgres-port.ts";
import { messageOf } from "../../kernel/message-of.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import { BranchVolumes } from "../../postgres/data/branch-volumes.ts";
import { findUnusedVolumes } from "../../postgres/data/unused-volumes.ts";
import { upgradeData } from "../../postgres/data/upgrade-data.ts";
import { versionOfData } from "../../postgres/data/volume-versions.ts";
import type { Engine } from "../../postgres/engine/engine.ts";
import { findInstallations, type Installation } from "../../postgres/installations/installation.ts";
import { enginesDirectory } from "../../postgres/installations/installed-engines.ts";
import { engineUser } from "../../postgres/machine/os-user.ts";
import type { Carried } from "../../postgres/upgrade/carry-cluster.ts";
import { findDumpPrograms } from "../../postgres/upgrade/dump-programs.ts";
import { Volumes } from "../../postgres/volumes/volumes.ts";
import { volumesFolder } from "../../worlds/directory-layout.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import type { WorldRegistry } from "../../worlds/world-registry.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { CliError } from "../terminal/cli-error.ts";

export type UpgradeOptions = {
  readonly data: string;
  readonly world: string;
  readonly volumes?: string | undefined;
  readonly extensionName: string;
  /** Ids; empty: all branches of the world. */
  readonly branch: readonly string[];
  /** Absent: the version of each project. */
  readonly major?: number | undefined;
  readonly dryRun: boolean;
};

/** The upgrade's plan for the data of one branch. */
export type BranchUpgrade = {
  readonly branchId: string;
  readonly name: string;
  readonly projectId: string;
  /** The version of the project. */
  readonly pgVersion: number;
  readonly from: number;
  readonly to: number;
} & (
  | { readonly result: "planned" | "same" | "newer" }
  | { readonly result: "failed"; readonly error: string }
  | { readonly result: "upgraded"; readonly carried: Carried }
);

type Planned = BranchUpgrade & { readonly row: BranchData };

/** Carries the data of branches to another version of Postgres. No server uses the data directory in the meantime. */
export async function upgradeBranches(
  options: UpgradeOptions,
  onStep: (text: string) => void,
): Promise<readonly BranchUpgrade[]> {
  const data = resolve(options.data);
  if (!existsSync(join(data, "worlds"))) throw new CliError(`--data ${options.data}: it contains no worlds`);
  const directory = openDataDirectory(data);
  try {
    const { worlds } = await openWorlds(directory, {}, () => undefined);
    try {
      return await upgradeIn(worlds, options, data, onStep);
    } finally {
      await worlds.close();
    }
  } finally {
    directory.release();
  }
}

async function upgradeIn(
  worlds: WorldRegistry,
  options: UpgradeOptions,
  data: string,
  onStep: (text: string) => void,
): Promise<readonly BranchUpgrade[]> {
  const found = worlds.world(options.world);
  if (!found.ok) throw new CliError(`--world ${options.world}: ${found.refusal.message}`);
  const volumes = new Volumes(options.volumes ?? volumesFolder(data), data);
  const planned = await planUpgrades(found.value, volumes, options);
  if (options.dryRun || planned.every(({ result }) => result !== "planned"))
    return planned.map(({ row: _, ...branch }) => branch);
  return execute({ options, data, worlds, world: found.value, volumes, planned, onStep });
}

async function planUpgrades(
  world: WorldHandle,
  volumes: Volumes,
  { branch: wanted, major }: UpgradeOptions,
): Promise<readonly Planned[]> {
  return world.transact(({ world: { branches, branchData, projects } }) => {
    const unknown = wanted.find((id) => branches.get(id) === undefined);
    if (unknown !== undefined) throw new CliError(`--branch ${unknown}: the world has no such branch`);
    const withoutData = wanted.find((id) => branchData.get(id)?.volumeId === undefined);
    if (withoutData !== undefined)
      throw new CliError(
        `--branch ${withoutData}: it has no data yet; it begins with the version of its project when a client connects`,
      );
    return branchData.toArray().flatMap((row): Planned[] => {
      const branch = branches.get(row.id);
      if (branch === undefined || (wanted.length > 0 && !wanted.includes(row.id))) return [];
      const from = versionOfData(volumes, row);
      const pgVersion = projects.get(branch.projectId)?.pgVersion;
      if (from === undefined || pgVersion === undefined) return [];
      const to = major ?? pgVersion;
      const result = from === to ? "same" : from > to ? "newer" : "planned";
      const { name, projectId } = branch;
      return [{ branchId: row.id, name, projectId, pgVersion, from, to, result, row }];
    });
  });
}

type Execution = {
  readonly options: UpgradeOptions;
  readonly data: string;
  readonly worlds: WorldRegistry;
  readonly world: WorldHandle;
  readonly volumes: Volumes;
  readonly planned: readonly Planned[];
  readonly onStep: (text: string) => void;
};

async function execute(execution: Execution): Promise<readonly BranchUpgrade[]> {
  const { options, data, worlds, volumes, planned } = execution;
  const user = engineUser();
  const installations = await findInstallations(
    undefined,
    user,
    enginesDirectory({ dataDirectory: data }),
  ).catch(asCliError);
  // Before anything is changed.
  for (const { from, to, result } of planned)
    if (result === "planned") await checkPrograms(installations, from, to);
  const engine = await openPostgresEngine(
    {
      dataDirectory: data,
      engine: "auto",
      engineVersion: "exact",
      maxBranchHistory: DEFAULT_MAX_BRANCH_HISTORY,
      extensionName: options.extensionName,
      sqlClock: "machine",
    },
    volumes,
    { error: () => undefined, warn: () => undefined, info: () => undefined },
  ).catch(asCliError);
  try {
    // Removes the rest of an upgrade that was killed.
    for (const id of (await findUnusedVolumes(volumes, worlds)).removable) await volumes.remove(id);
    const results: BranchUpgrade[] = [];
    for (const { row, ...branch } of planned)
      results.push(
        branch.result === "planned"
          ? await upgradeOne(execution, engine, installations, row, branch)
          : branch,
      );
    return results;
  } finally {
    engine.close();
  }
}

async function checkPrograms(installations: readonly Installation[], from: number, to: number) {
  for (const version of [from, to])
    if (!installations.some((installation) => installation.version === version))
      throw new CliError(`Postgres ${version} is not installed; run "standin engines install ${version}"`);
  await findDumpPrograms(installations, engineUser(), from, to).catch(asCliError);
}

async function upgradeOne(
  { world, volumes, onStep }: Execution,
  engine: Engine,
  installations: readonly Installation[],
  row: BranchData,
  branch: BranchUpgrade,
): Promise<BranchUpgrade> {
  const { branchId, name, from, to } = branch;
  const user = engineUser();
  try {
    const programs = await findDumpPrograms(installations, user, from, to);
    const branchVolumes = new BranchVolumes(engine, volumes);
    const carried = await upgradeData(
      { world, engine, volumes, branchVolumes },
      { row, from, to, programs, user, onStep: (step) => onStep(`${branchId} (${name}): ${step}`) },
    );
    return { ...branch, result: "upgraded", carried };
  } catch (error) {
    onStep(`${branchId} (${name}): failed: ${messageOf(error)}`);
    return { ...branch, result: "failed", error: messageOf(error) };
  }
}

function asCliError(error: unknown): never {
  throw new CliError(messageOf(error));
}
