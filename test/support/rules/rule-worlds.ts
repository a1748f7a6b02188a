import { uuidOf } from "../../../src/kernel/ids.ts";
import { after, type CommandOf, NOW, SECOND, SEED, START, type Step } from "./rules.ts";

// Starting worlds: account "owner", its project "shop", the branch "br-main" of that, and its compute "ep-main".

export const SHOP = { accountId: "owner", projectId: "shop" } as const;
export const MAIN = { ...SHOP, branchId: "br-main" } as const;
export const DEV = { ...SHOP, branchId: "br-dev" } as const;
export const MAIN_COMPUTE = { ...SHOP, computeId: "ep-main" } as const;
export const ORGANIZATION = "org-owner-1";
/** The id under which the account is a member of its own organization. */
export const OWNER_MEMBER = uuidOf(`${ORGANIZATION}/owner`);

export const createShop: CommandOf<"CreateProject"> = {
  type: "CreateProject",
  accountId: "owner",
  id: "shop",
  branch: { id: "br-main" },
  compute: { id: "ep-main" },
};
/** A branch "br-dev" of "br-main", without a compute. */
export const createDev: CommandOf<"CreateBranch"> = {
  type: "CreateBranch",
  ...SHOP,
  id: "br-dev",
  name: "dev",
};
/** An account with the id "other" and the organization "org-other-2". */
export const createOther: CommandOf<"CreateAccount"> = {
  type: "CreateAccount",
  id: "other",
  name: "Other",
  email: "other@example.com",
};
/** Keeps the project busy for four seconds. */
export const restartMain: CommandOf<"RestartCompute"> = { type: "RestartCompute", ...MAIN_COMPUTE };

type SettingsOfWorld = CommandOf<"CreateWorld">["settings"];

export function worldWithAccount(settings: Partial<SettingsOfWorld> = {}): Step {
  return [createAccounts(settings), after(NOW - START)];
}

/** The project is not busy and its compute is active, since four seconds after the start. */
export function worldWithProject(
  project: Partial<typeof createShop> = {},
  settings: Partial<SettingsOfWorld> = {},
): Step {
  const compute = { ...createShop.compute, ...project.compute };
  return [createAccounts(settings), { ...createShop, ...project, compute }, after(NOW - START)];
}

/** `worldWithProject` with an idle compute. */
export function worldWithIdleCompute(project: Partial<typeof createShop> = {}): Step {
  const compute = { ...createShop.compute, ...project.compute };
  return [
    createAccounts({}),
    { ...createShop, ...project, compute },
    after(5 * SECOND),
    { type: "SuspendCompute", ...MAIN_COMPUTE },
    after(5 * SECOND),
  ];
}

/** `worldWithProject` with a branch "br-dev" as old as the project. */
export function worldWithBranch(
  branch: Partial<typeof createDev> = {},
  settings: Partial<SettingsOfWorld> = {},
): Step {
  return [createAccounts(settings), createShop, { ...createDev, queue: true, ...branch }, after(NOW - START)];
}

function createAccounts(settings: Partial<SettingsOfWorld>): Step {
  return [
    { type: "CreateWorld", settings: { ...SETTINGS, ...settings } },
    { type: "CreateAccount", id: "owner", name: "Owner", email: "owner@example.com" },
  ];
}

export const SETTINGS: SettingsOfWorld = {
  seed: SEED,
  profile: "2024",
  plan: "paid",
  operations: "timed",
  startAt: START,
};
