import { stringify } from "yaml";
import { PLANS } from "../platform/catalog/plan.ts";
import { PROFILES, type ProfileName } from "../platform/catalog/profile.ts";
import { REGIONS } from "../platform/catalog/regions.ts";
import { resolveSizeRange } from "../platform/catalog/sizes.ts";
import { UserError } from "../remote/user-error.ts";
import { parseSeedFile, SeedFileError } from "../scenario/file/seed-file.ts";
import {
  type BranchCopy,
  type EndpointCopy,
  type Inventory,
  isDefault,
  isSchemaOnly,
  type Omission,
  type ProjectCopy,
} from "./inventory.ts";

/** S: how the public document calls the plans without payment. */
const FREE_PLAN = /^free/;
const LOWEST_PG_VERSION = 14;
const HIGHEST_PG_VERSION = 18;
const SMALLEST_CU = 0.25;

/** S: what a project keeps of its history where nobody says. */
const DEFAULT_HISTORY_RETENTION_S = 86_400;

/** A file for `--seed-file`, and the profile that a world needs to know its sizes. */
export type InventoryFile = { readonly text: string; readonly profile: ProfileName };

/** An inventory as a seed file, under the ids that it has; what such a file cannot say goes to `leftOut`. */
export function inventoryFile(inventory: Inventory, omissions: Omission[]): InventoryFile {
  const { id, plan } = inventory.account;
  const projects = inventory.projects.map((project) => projectLayout(project, omissions));
  const file = {
    version: 1,
    accounts: [{ id, ...(plan !== undefined && FREE_PLAN.test(plan) ? { plan: "free" } : {}), projects }],
  };
  const text = stringify(file, { lineWidth: 0 });
  try {
    parseSeedFile(text, "the inventory");
  } catch (error) {
    if (error instanceof SeedFileError)
      throw new UserError(`this inventory cannot be a seed file: ${error.message}`);
    throw error;
  }
  const endpoints = inventory.projects.flatMap(({ branches }) =>
    branches.flatMap((branch) => branch.endpoints),
  );
  const isNew = endpoints.some((endpoint) => profilesSupporting(endpoint)[0] === "2026");
  return { text, profile: isNew ? "2026" : "2024" };
}

function projectLayout(project: ProjectCopy, omissions: Omission[]) {
  const what = `project ${project.name} (${project.id})`;
  const omitPart = (part: string, because: string) => omissions.push({ what: `${what}: ${part}`, because });
  const [root] = project.branches;
  const database = root?.databases[0];
  const isKnownRegion = REGIONS.some(({ id }) => id === project.region_id);
  const isKnownVersion = project.pg_version >= LOWEST_PG_VERSION && project.pg_version <= HIGHEST_PG_VERSION;
  if (!isKnownRegion)
    omitPart(`region ${project.region_id}`, "the double has no such region; it takes its default one");
  if (!isKnownVersion)
    omitPart(`Postgres ${project.pg_version}`, "the double has no such version; it takes its default one");
  for (const part of nonDefaultSettings(project)) omitPart(part, "a seed file has no field for it");
  for (const branch of project.branches) omitBranchParts(branch, root, omitPart);
  return {
    id: project.id,
    name: project.name,
    ...(isKnownRegion ? { region_id: project.region_id } : {}),
    ...(isKnownVersion ? { pg_version: project.pg_version } : {}),
    ...(database === undefined ? {} : { database: database.name, role: database.owner_name }),
    branches: project.branches.map((branch) => branchLayout(branch, root, omitPart)),
  };
}

/** What a project has that differs from a project that nobody has set up. */
function nonDefaultSettings(project: ProjectCopy): string[] {
  const defaults = Object.entries(project.default_endpoint_settings ?? {}).filter(
    ([, value]) => !isUnset(value),
  );
  return [
    ...Object.entries(project.settings ?? {}).flatMap(([name, value]) =>
      isUnset(value) ? [] : [`settings.${name}`],
    ),
    ...defaults.map(([name]) => `default_endpoint_settings.${name}`),
    ...((project.history_retention_seconds ?? DEFAULT_HISTORY_RETENTION_S) === DEFAULT_HISTORY_RETENTION_S
      ? []
      : ["history_retention_seconds"]),
    ...(project.store_passwords === false ? ["store_passwords"] : []),
  ];
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
    omitPart(`${part}: that it is the default one`, "in a seed file that is the one without a parent");
  if (isSchemaOnly(branch) && !isRoot)
    omitPart(`${part}: that it has no parent`, "a seed file has no field for it");
  if (branch.expires_at != null) omitPart(`${part}: expires_at`, "a seed file has no field for it");
  if (branch.current_state === "archived")
    omitPart(`${part}: that it is archived`, "a seed file has no field for it");
  // A branch has what its parent has; what it has on top of the first database and its owner cannot be said.
  const first = root?.databases[0];
  const inherited = { roles: new Set([first?.owner_name]), databases: new Set([first?.name]) };
  for (const { name } of branch.roles)
    if (!inherited.roles.has(name)) omitPart(`${part}: role ${name}`, "a seed file has one role a project");
  for (const { name } of branch.databases)
    if (!inherited.databases.has(name))
      omitPart(`${part}: database ${name}`, "a seed file has one database a project");
  for (const { name, authentication_method } of branch.roles)
    if (inherited.roles.has(name) && authentication_method === "no_login")
      omitPart(`${part}: role ${name}: no_login`, "a seed file has no field for it");
  if (first !== undefined && !branch.databases.some(({ name }) => name === first.name))
    omitPart(`${part}: no database ${first.name}`, "in a seed file every branch has that of its project");
  if (isRoot && !branch.endpoints.some(({ type }) => type === "read_write")) {
    omitPart(
      `${part}: that it has no primary compute`,
      "a project begins with one, under an id that is drawn",
    );
  }
}

function branchLayout(branch: BranchCopy, root: BranchCopy | undefined, omitPart: OmitPart) {
  const parent =
    branch === root || branch.parent_id == null || branch.parent_id === root?.id
      ? undefined
      : branch.parent_id;
  return {
    id: branch.id,
    name: branch.name,
    ...(parent === undefined ? {} : { parent }),
    ...(branch.protected === true ? { protected: true } : {}),
    ...(branch.endpoints.length === 0
      ? {}
      : { endpoints: branch.endpoints.flatMap((endpoint) => endpointLayout(endpoint, omitPart)) }),
  };
}

function endpointLayout(endpoint: EndpointCopy, omitPart: OmitPart) {
  const part = `endpoint ${endpoint.id}`;
  if (endpoint.type !== "read_write" && endpoint.type !== "read_only") {
    omitPart(part, `the double has no computes of type ${endpoint.type}`);
    return [];
  }
  for (const name of ["settings", "pooler_enabled", "passwordless_access"] as const) {
    if (name === "passwordless_access" ? endpoint[name] === false : !isUnset(endpoint[name]))
      omitPart(`${part}: ${name}`, "a seed file has no field for it");
  }
  return [
    {
      id: endpoint.id,
      ...(endpoint.type === "read_write" ? {} : { type: endpoint.type }),
      ...(typeof endpoint.name === "string" ? { name: endpoint.name } : {}),
      ...sizeFields(endpoint, part, omitPart),
      ...delayFields(endpoint, part, omitPart),
      ...(endpoint.disabled === true ? { disabled: true } : {}),
    },
  ];
}

/** A size that no profile has would have the whole file refused. */
function sizeFields(endpoint: EndpointCopy, part: string, omitPart: OmitPart) {
  const { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu } = endpoint;
  if (minCu == null || maxCu == null) return {};
  if (profilesSupporting(endpoint).length > 0)
    return { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu };
  omitPart(`${part}: ${minCu} to ${maxCu} CU`, "no profile has that size; it takes the default one");
  return {};
}

/** The profiles in which a compute of this size can be made, the oldest first. */
function profilesSupporting({
  autoscaling_limit_min_cu: min,
  autoscaling_limit_max_cu: max,
}: EndpointCopy): ProfileName[] {
  const range = { minCu: min ?? max ?? SMALLEST_CU, maxCu: max ?? min ?? SMALLEST_CU };
  return (["2024", "2026"] as const).filter(
    (name) => resolveSizeRange(PLANS.paid, PROFILES[name], range, range).ok,
  );
}

function delayFields({ suspend_timeout_seconds: seconds }: EndpointCopy, part: string, omitPart: OmitPart) {
  if (seconds == null || seconds === 0) return {};
  const { minimumS, maximumS } = PROFILES["2026"].suspendTimeout;
  if (seconds === -1 || (seconds >= minimumS && seconds <= maximumS))
    return { suspend_timeout_seconds: seconds };
  omitPart(
    `${part}: an autosuspend delay of ${seconds} s`,
    `the double knows ${minimumS} to ${maximumS} s, and -1 for never`,
  );
  return {};
}
