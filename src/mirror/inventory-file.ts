import { stringify } from "yaml";
import { CliError } from "../cli/terminal/cli-error.ts";
import { PLANS } from "../platform/catalog/plan.ts";
import { PROFILES, type ProfileName } from "../platform/catalog/profile.ts";
import { REGIONS } from "../platform/catalog/regions.ts";
import { decideRange } from "../platform/catalog/sizes.ts";
import { parseWorldFile, WorldFileError } from "../scenario/file/seed-file.ts";
import {
  type BranchCopy,
  type EndpointCopy,
  type Inventory,
  isDefault,
  isSchemaOnly,
  type LeftOut,
  type ProjectCopy,
} from "./inventory.ts";

/** S: how the public document calls the plans without payment. */
const FREE = /^free/;
const LOWEST_PG_VERSION = 14;
const HIGHEST_PG_VERSION = 18;
const SMALLEST_CU = 0.25;

/** S: what a project keeps of its history where nobody says. */
const DEFAULT_HISTORY_RETENTION_S = 86_400;

/** A file for `--seed-file`, and the profile that a world needs to know its sizes. */
export type InventoryFile = { readonly text: string; readonly profile: ProfileName };

/** An inventory as a seed file, under the ids that it has; what such a file cannot say goes to `leftOut`. */
export function inventoryFile(inventory: Inventory, leftOut: LeftOut[]): InventoryFile {
  const { id, plan } = inventory.account;
  const projects = inventory.projects.map((project) => projectLayout(project, leftOut));
  const file = { version: 1, accounts: [{ id, ...(plan !== undefined && FREE.test(plan) ? { plan: "free" } : {}), projects }] };
  const text = stringify(file, { lineWidth: 0 });
  try {
    parseWorldFile(text, "the inventory");
  } catch (error) {
    if (error instanceof WorldFileError) throw new CliError(`this inventory cannot be a seed file: ${error.message}`);
    throw error;
  }
  const endpoints = inventory.projects.flatMap(({ branches }) => branches.flatMap((branch) => branch.endpoints));
  const isNew = endpoints.some((endpoint) => profilesKnowing(endpoint)[0] === "2026");
  return { text, profile: isNew ? "2026" : "2024" };
}

function projectLayout(project: ProjectCopy, leftOut: LeftOut[]) {
  const what = `project ${project.name} (${project.id})`;
  const leave = (part: string, because: string) => leftOut.push({ what: `${what}: ${part}`, because });
  const [root] = project.branches;
  const database = root?.databases[0];
  const region = REGIONS.some(({ id }) => id === project.region_id);
  const version = project.pg_version >= LOWEST_PG_VERSION && project.pg_version <= HIGHEST_PG_VERSION;
  if (!region) leave(`region ${project.region_id}`, "the double has no such region; it takes its default one");
  if (!version) leave(`Postgres ${project.pg_version}`, "the double has no such version; it takes its default one");
  for (const part of settingsOf(project)) leave(part, "a seed file has no field for it");
  for (const branch of project.branches) leaveOfBranch(branch, root, leave);
  return {
    id: project.id,
    name: project.name,
    ...(region ? { region_id: project.region_id } : {}),
    ...(version ? { pg_version: project.pg_version } : {}),
    ...(database === undefined ? {} : { database: database.name, role: database.owner_name }),
    branches: project.branches.map((branch) => branchLayout(branch, root, leave)),
  };
}

/** What a project has that differs from a project that nobody has set up. */
function settingsOf(project: ProjectCopy): string[] {
  const defaults = Object.entries(project.default_endpoint_settings ?? {}).filter(([, value]) => !isNothing(value));
  return [
    ...Object.entries(project.settings ?? {}).flatMap(([name, value]) => (isNothing(value) ? [] : [`settings.${name}`])),
    ...defaults.map(([name]) => `default_endpoint_settings.${name}`),
    ...((project.history_retention_seconds ?? DEFAULT_HISTORY_RETENTION_S) === DEFAULT_HISTORY_RETENTION_S
      ? []
      : ["history_retention_seconds"]),
    ...(project.store_passwords === false ? ["store_passwords"] : []),
  ];
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === 0) return true;
  return typeof value === "object" && Object.values(value).every(isNothing);
}

type Leave = (part: string, because: string) => void;

function leaveOfBranch(branch: BranchCopy, root: BranchCopy | undefined, leave: Leave): void {
  const part = `branch ${branch.name}`;
  const isRoot = branch === root;
  if (isDefault(branch) && !isRoot) leave(`${part}: that it is the default one`, "in a seed file that is the one without a parent");
  if (isSchemaOnly(branch) && !isRoot) leave(`${part}: that it has no parent`, "a seed file has no field for it");
  if (branch.expires_at != null) leave(`${part}: expires_at`, "a seed file has no field for it");
  if (branch.current_state === "archived") leave(`${part}: that it is archived`, "a seed file has no field for it");
  // A branch has what its parent has; what it has on top of the first database and its owner cannot be said.
  const first = root?.databases[0];
  const given = { roles: new Set([first?.owner_name]), databases: new Set([first?.name]) };
  for (const { name } of branch.roles) if (!given.roles.has(name)) leave(`${part}: role ${name}`, "a seed file has one role a project");
  for (const { name } of branch.databases)
    if (!given.databases.has(name)) leave(`${part}: database ${name}`, "a seed file has one database a project");
  for (const { name, authentication_method } of branch.roles)
    if (given.roles.has(name) && authentication_method === "no_login")
      leave(`${part}: role ${name}: no_login`, "a seed file has no field for it");
  if (first !== undefined && !branch.databases.some(({ name }) => name === first.name))
    leave(`${part}: no database ${first.name}`, "in a seed file every branch has that of its project");
  if (isRoot && !branch.endpoints.some(({ type }) => type === "read_write")) {
    leave(`${part}: that it has no primary compute`, "a project begins with one, under an id that is drawn");
  }
}

function branchLayout(branch: BranchCopy, root: BranchCopy | undefined, leave: Leave) {
  const parent = branch === root || branch.parent_id == null || branch.parent_id === root?.id ? undefined : branch.parent_id;
  return {
    id: branch.id,
    name: branch.name,
    ...(parent === undefined ? {} : { parent }),
    ...(branch.protected === true ? { protected: true } : {}),
    ...(branch.endpoints.length === 0 ? {} : { endpoints: branch.endpoints.flatMap((endpoint) => endpointLayout(endpoint, leave)) }),
  };
}

function endpointLayout(endpoint: EndpointCopy, leave: Leave) {
  const part = `endpoint ${endpoint.id}`;
  if (endpoint.type !== "read_write" && endpoint.type !== "read_only") {
    leave(part, `the double has no computes of type ${endpoint.type}`);
    return [];
  }
  for (const name of ["settings", "pooler_enabled", "passwordless_access"] as const) {
    if (name === "passwordless_access" ? endpoint[name] === false : !isNothing(endpoint[name]))
      leave(`${part}: ${name}`, "a seed file has no field for it");
  }
  return [
    {
      id: endpoint.id,
      ...(endpoint.type === "read_write" ? {} : { type: endpoint.type }),
      ...(typeof endpoint.name === "string" ? { name: endpoint.name } : {}),
      ...sizeOf(endpoint, part, leave),
      ...delayOf(endpoint, part, leave),
      ...(endpoint.disabled === true ? { disabled: true } : {}),
    },
  ];
}

/** A size that no profile has would have the whole file refused. */
function sizeOf(endpoint: EndpointCopy, part: string, leave: Leave) {
  const { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu } = endpoint;
  if (minCu == null || maxCu == null) return {};
  if (profilesKnowing(endpoint).length > 0) return { autoscaling_limit_min_cu: minCu, autoscaling_limit_max_cu: maxCu };
  leave(`${part}: ${minCu} to ${maxCu} CU`, "no profile has that size; it takes the default one");
  return {};
}

/** The profiles in which a compute of this size can be made, the oldest first. */
function profilesKnowing({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }: EndpointCopy): ProfileName[] {
  const range = { minCu: min ?? max ?? SMALLEST_CU, maxCu: max ?? min ?? SMALLEST_CU };
  return (["2024", "2026"] as const).filter((name) => decideRange(PLANS.paid, PROFILES[name], range, range).ok);
}

function delayOf({ suspend_timeout_seconds: seconds }: EndpointCopy, part: string, leave: Leave) {
  if (seconds == null || seconds === 0) return {};
  const { minimumS, maximumS } = PROFILES["2026"].suspendTimeout;
  if (seconds === -1 || (seconds >= minimumS && seconds <= maximumS)) return { suspend_timeout_seconds: seconds };
  leave(`${part}: an autosuspend delay of ${seconds} s`, `the double knows ${minimumS} to ${maximumS} s, and -1 for never`);
  return {};
}
