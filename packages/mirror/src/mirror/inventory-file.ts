import type { MirrorHost, PlatformFacts } from "@standin/standin/ports/mirror";
import { UserError } from "@standin/standin/ports/user-error";
import { stringify } from "yaml";
import {
  type BranchCopy,
  type EndpointCopy,
  type Inventory,
  isDefault,
  isSchemaOnly,
  type Omission,
  type ProjectCopy,
} from "./inventory.ts";
import { contains } from "./inventory-parts.ts";

/** S: names of the free plans in the public document. */
const FREE_PLAN = /^free/;
const SMALLEST_CU = 0.25;
const DEFAULT_SIZE = { autoscaling_limit_min_cu: SMALLEST_CU, autoscaling_limit_max_cu: SMALLEST_CU };

/** S: the default of `history_retention_seconds`. */
const DEFAULT_HISTORY_RETENTION_S = 86_400;

/** A file for `--seed-file`, and the oldest profile that has its compute sizes and Postgres versions. */
export type InventoryFile = { readonly text: string; readonly profile: string };

/**
 * The inventory as a seed file with the original ids. What such a file cannot express is added to
 * `omissions`.
 */
export function inventoryFile(
  host: Pick<MirrorHost, "platform" | "seedFileProblem">,
  inventory: Inventory,
  omissions: Omission[],
): InventoryFile {
  const { platform } = host;
  const { id, plan } = inventory.account;
  const projects = inventory.projects.map((project) => projectLayout(platform, project, omissions));
  const file = {
    version: 1,
    accounts: [{ id, plan: FREE_PLAN.test(plan ?? "") ? "free" : undefined, projects }],
  };
  // Fields that are undefined are not written.
  const text = stringify(file, { lineWidth: 0 });
  const problem = host.seedFileProblem(text);
  if (problem !== undefined) throw new UserError(`this account cannot be written as a seed file: ${problem}`);
  const endpoints = inventory.projects.flatMap(({ branches }) =>
    branches.flatMap((branch) => branch.endpoints),
  );
  const { profiles } = platform;
  // A size that no profile has is not in the file.
  const oldest = Math.max(
    0,
    ...endpoints.map((endpoint) => profiles.findIndex((profile) => hasSizeOf(profile, endpoint))),
    ...projects.map(({ pg_version = 0 }) =>
      profiles.findIndex(({ highestPgVersion }) => pg_version <= highestPgVersion),
    ),
  );
  return { text, profile: profiles[oldest]?.name ?? "" };
}

function projectLayout(platform: PlatformFacts, project: ProjectCopy, omissions: Omission[]) {
  const what = `project ${project.name} (${project.id})`;
  const omitPart = (part: string, because: string) => omissions.push({ what: `${what}: ${part}`, because });
  const [root] = project.branches;
  const database = root?.databases[0];
  const isKnownRegion = platform.regions.includes(project.region_id);
  const { lowest, highest } = platform.pgVersions;
  const isKnownVersion = project.pg_version >= lowest && project.pg_version <= highest;
  if (!isKnownRegion)
    omitPart(`region ${project.region_id}`, "standin does not have this region; the default region is used");
  if (!isKnownVersion)
    omitPart(
      `Postgres ${project.pg_version}`,
      "standin does not have this version; the default version is used",
    );
  for (const part of nonDefaultSettings(platform, project)) omitPart(part, "a seed file has no field for it");
  for (const branch of project.branches) omitBranchParts(branch, root, omitPart);
  return {
    id: project.id,
    name: project.name,
    region_id: isKnownRegion ? project.region_id : undefined,
    pg_version: isKnownVersion ? project.pg_version : undefined,
    database: database?.name,
    role: database?.owner_name,
    branches: project.branches.map((branch) => branchLayout(platform, branch, root, omitPart)),
  };
}

/** The settings of a project that differ from the defaults. */
function nonDefaultSettings(platform: PlatformFacts, project: ProjectCopy): string[] {
  const defaults = Object.entries(project.default_endpoint_settings ?? {}).filter(
    ([name, value]) => !isUnset(value) && !(name in DEFAULT_SIZE && value === SMALLEST_CU),
  );
  return [
    ...Object.entries(project.settings ?? {}).flatMap(([name, value]) =>
      isUnset(value) || isDefaultSetting(platform, name, value) ? [] : [`settings.${name}`],
    ),
    ...defaults.map(([name]) => `default_endpoint_settings.${name}`),
    ...((project.history_retention_seconds ?? DEFAULT_HISTORY_RETENTION_S) === DEFAULT_HISTORY_RETENTION_S
      ? []
      : ["history_retention_seconds"]),
    ...(project.store_passwords === false ? ["store_passwords"] : []),
  ];
}

/** The defaults that `isUnset` does not cover: every project has a maintenance window. */
function isDefaultSetting({ projectSettings }: PlatformFacts, name: string, value: unknown): boolean {
  return contains(value, projectSettings[name]);
}

function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return true;
  return typeof value === "object" && Object.values(value).every(isUnset);
}

type OmitPart = (part: string, because: string) => void;

function omitBranchParts(branch: BranchCopy, root: BranchCopy | undefined, omitPart: OmitPart): void {
  const part = `branch ${branch.name}`;
  const isRoot = branch === root;
  if (isDefault(branch) && !isRoot)
    omitPart(`${part}: default branch`, "in a seed file, the branch without a parent is the default branch");
  if (isSchemaOnly(branch) && !isRoot) omitPart(`${part}: no parent`, "a seed file has no field for it");
  if (branch.expires_at != null) omitPart(`${part}: expires_at`, "a seed file has no field for it");
  if (branch.current_state === "archived")
    omitPart(`${part}: archived state`, "a seed file has no field for it");
  // A branch inherits from its parent. A seed file has only the first database of a project and its owner.
  const first = root?.databases[0];
  const inherited = { roles: new Set([first?.owner_name]), databases: new Set([first?.name]) };
  for (const { name } of branch.roles)
    if (!inherited.roles.has(name)) omitPart(`${part}: role ${name}`, "a seed file has one role per project");
  for (const { name } of branch.databases)
    if (!inherited.databases.has(name))
      omitPart(`${part}: database ${name}`, "a seed file has one database per project");
  for (const { name, authentication_method } of branch.roles)
    if (inherited.roles.has(name) && authentication_method === "no_login")
      omitPart(`${part}: role ${name}: no_login`, "a seed file has no field for it");
  if (first !== undefined && !branch.databases.some(({ name }) => name === first.name))
    omitPart(
      `${part}: no database ${first.name}`,
      "in a seed file, every branch has the database of its project",
    );
  if (isRoot && !branch.endpoints.some(({ type }) => type === "read_write")) {
    omitPart(`${part}: no primary compute`, "a new project has a primary compute, with a generated id");
  }
}

function branchLayout(
  platform: PlatformFacts,
  branch: BranchCopy,
  root: BranchCopy | undefined,
  omitPart: OmitPart,
) {
  const parent =
    branch === root || branch.parent_id == null || branch.parent_id === root?.id
      ? undefined
      : branch.parent_id;
  return {
    id: branch.id,
    name: branch.name,
    parent,
    protected: branch.protected === true ? true : undefined,
    endpoints:
      branch.endpoints.length === 0
        ? undefined
        : branch.endpoints.flatMap((endpoint) => endpointLayout(platform, endpoint, omitPart)),
  };
}

/** A seed file has fields for these. */
const SEEDED_SETTINGS: ReadonlySet<string> = new Set(["name", "disabled"]);

function endpointLayout(platform: PlatformFacts, endpoint: EndpointCopy, omitPart: OmitPart) {
  const part = `endpoint ${endpoint.id}`;
  if (endpoint.type !== "read_write" && endpoint.type !== "read_only") {
    omitPart(part, `standin does not have computes of type ${endpoint.type}`);
    return [];
  }
  const { chosen } = endpoint;
  const unsupported = platform.computeSettings.flatMap(({ name, default: value }) =>
    !SEEDED_SETTINGS.has(name) && (chosen[name] ?? value) !== value ? [name] : [],
  );
  for (const name of isUnset(endpoint.settings) ? unsupported : ["settings", ...unsupported])
    omitPart(`${part}: ${name}`, "a seed file has no field for it");
  return [
    {
      id: endpoint.id,
      type: endpoint.type === "read_write" ? undefined : endpoint.type,
      name: chosen["name"] ?? undefined,
      ...sizeFields(platform, endpoint, part, omitPart),
      ...delayFields(platform, endpoint, part, omitPart),
      disabled: chosen["disabled"] === true ? true : undefined,
    },
  ];
}

/** Omits a size that no profile has: the whole file would be rejected. */
function sizeFields({ profiles }: PlatformFacts, endpoint: EndpointCopy, part: string, omitPart: OmitPart) {
  const { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu } = endpoint;
  if (minCu == null || maxCu == null) return {};
  if (profiles.some((profile) => hasSizeOf(profile, endpoint)))
    return { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu };
  omitPart(`${part}: ${minCu} to ${maxCu} CU`, "no profile has this size; the default size is used");
  return {};
}

function hasSizeOf(
  profile: PlatformFacts["profiles"][number],
  { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }: EndpointCopy,
): boolean {
  return profile.hasSize(min ?? max ?? SMALLEST_CU, max ?? min ?? SMALLEST_CU);
}

function delayFields(
  { suspendTimeout }: PlatformFacts,
  { suspend_timeout_seconds: seconds }: EndpointCopy,
  part: string,
  omitPart: OmitPart,
) {
  if (seconds == null || seconds === 0) return {};
  const { minimumS, maximumS } = suspendTimeout;
  if (seconds === -1 || (seconds >= minimumS && seconds <= maximumS))
    return { suspend_timeout_seconds: seconds };
  omitPart(
    `${part}: an autosuspend delay of ${seconds} s`,
    `allowed are ${minimumS} s to ${maximumS} s, and -1 for never`,
  );
  return {};
}
