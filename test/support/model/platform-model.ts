// A model of the platform from its documents: ownership and names in use. It is independent of the
// implementation and queries the double only for unfinished operations.

export type Account = { readonly id: string; readonly key: string; readonly plan: "paid" | "free" };
export type Project = {
  readonly id: string;
  readonly account: Account;
  readonly defaultCu: number;
  readonly createdAt: number;
  /** The last instant at which operations may have been scheduled. */
  stirredAt: number;
  gone: boolean;
};
export type Branch = {
  readonly id: string;
  readonly project: Project;
  readonly parent: Branch | undefined;
  readonly createdAt: number;
  name: string;
  isDefault: boolean;
  isProtected: boolean;
  gone: boolean;
};
export type Endpoint = {
  readonly id: string;
  readonly project: Project;
  readonly type: "read_write" | "read_only";
  branch: Branch;
  minCu: number;
  maxCu: number;
  delayS: number;
  disabled: boolean;
  /** The latest end of a recorded activity. */
  busyUntil: number;
  gone: boolean;
};
type Key = { readonly id: number; readonly account: Account; readonly secret: string; revoked: boolean };

/** Durations of operations: from the profile, zero (finished before the next command), or drawn for starts. */
export type Durations = "fixed" | "none" | "drawn";

export type PlatformModel = {
  readonly durations: Durations;
  now: number;
  readonly accounts: Account[];
  readonly projects: Project[];
  readonly branches: Branch[];
  readonly endpoints: Endpoint[];
  readonly keys: Key[];
  /** Scheduled activities. */
  readonly scheduledActivities: {
    readonly at: number;
    readonly durationMs: number;
    readonly endpoint: Endpoint;
  }[];
};

/** Longer than any chain of operations from one call: a few seconds each. */
export const LONGEST_OPERATIONS_MS = 20_000;

/** The `index`-th item of a list, modulo its length. */
export function pick<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

/** R, "Compute sizes": max_connections by minimum size. */
const MAX_CONNECTIONS: ReadonlyMap<number, number> = new Map(
  Object.entries({
    0.25: 112,
    0.5: 225,
    1: 450,
    2: 901,
    3: 1351,
    4: 1802,
    5: 2253,
    6: 2703,
    7: 3154,
    8: 3604,
    9: 4000,
    10: 4000,
  }).map(([cu, connections]) => [Number(cu), connections]),
);

export function maxConnections(endpoint: Endpoint): number {
  return MAX_CONNECTIONS.get(endpoint.minCu) ?? 0;
}

export function refusesSize(account: Account, minCu: number, maxCu: number): boolean {
  if (!MAX_CONNECTIONS.has(minCu) || !MAX_CONNECTIONS.has(maxCu) || minCu > maxCu) return true;
  return account.plan === "free" && (minCu !== 0.25 || maxCu !== 0.25);
}

/** R, S: 60 s to 7 days, 0 for the default, -1 for never; on the free plan the default alone. */
export function delayCases(account: Account, delayS: number | undefined): readonly StatusCase[] {
  if (delayS === undefined || delayS === 0) return [];
  const isOutside = delayS !== -1 && (delayS < 60 || delayS > 604_800);
  return [
    [422, isOutside],
    [412, !isOutside && account.plan === "free" && delayS !== 300],
  ];
}

export function isGone(endpoint: Endpoint): boolean {
  return endpoint.gone || endpoint.branch.gone || endpoint.project.gone;
}

export function branchesIn(model: PlatformModel, project: Project): Branch[] {
  return model.branches.filter((branch) => branch.project === project && !branch.gone);
}

export function endpointsIn(model: PlatformModel, project: Project): Endpoint[] {
  return model.endpoints.filter((endpoint) => endpoint.project === project && !isGone(endpoint));
}

export function hasPrimary(model: PlatformModel, branch: Branch, except?: Endpoint): boolean {
  return model.endpoints.some(
    (other) => other.branch === branch && other !== except && other.type === "read_write" && !isGone(other),
  );
}

export function isNameTaken(
  model: PlatformModel,
  project: Project,
  name: string | undefined,
  except?: Branch,
): boolean {
  return (
    name !== undefined &&
    branchesIn(model, project).some((branch) => branch.name === name && branch !== except)
  );
}

export type StatusCase = readonly [status: number, applies: boolean];

/**
 * Any refusal of the first group in which one applies is allowed. If none applies, the call must succeed. While
 * operations run, 423 and success are both allowed: `locks.rules.ts` verifies which calls they lock.
 */
export function predict(success: number, ...groups: readonly (readonly StatusCase[])[]): number[] {
  for (const group of groups) {
    const statuses = group.filter(([, applies]) => applies).map(([status]) => status);
    if (statuses.length > 0) return statuses.every((status) => status === 423) ? [success, 423] : statuses;
  }
  return [success];
}
