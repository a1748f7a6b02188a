import { computed, signal } from "@preact/signals";
import { isReadOnly } from "../client/mode.ts";
import type {
  Account,
  Branch,
  Clock,
  Compute,
  ComputeStats,
  Project,
  WorldEvent,
  WorldState,
} from "../client/types.ts";

export type Connection = "connecting" | "live" | "unreachable" | "needs_token";

/** Object that the details panel shows. */
export type Selection =
  | { readonly kind: "account"; readonly id: string }
  | { readonly kind: "project"; readonly id: string }
  | { readonly kind: "branch"; readonly id: string }
  | { readonly kind: "compute"; readonly id: string };

export const connection = signal<Connection>("connecting");
/** Why the server does not show this world to the token that was given. */
export const refusal = signal<string | undefined>(undefined);
export const clock = signal<(Clock & { readonly readAt: number }) | undefined>(undefined);
/** The world's objects now, or as of `at`. */
export const world = signal<WorldState | undefined>(undefined);
export const stats = signal<ReadonlyMap<string, ComputeStats>>(new Map());
/** The computes on screen: the lanes of the timeline, and the selected one. Their statistics are read. */
export const lanesOnScreen = signal<readonly string[]>([]);
/** The instant in the past that the page shows, in milliseconds; `undefined`: now. */
export const at = signal<number | undefined>(undefined);
export const selection = signal<Selection | undefined>(undefined);
export const shownComputes = computed(() => {
  const { value } = selection;
  const lanes = lanesOnScreen.value;
  return value?.kind === "compute" && !lanes.includes(value.id) ? [...lanes.slice(0, 99), value.id] : lanes;
});
/** Whether the page offers changes: not of the past. */
export const canChange = computed(() => !isReadOnly && at.value === undefined);
/** The newest events, oldest first. */
export const recentEvents = signal<readonly WorldEvent[]>([]);
/** Counts what has happened, so that panels read again. */
export const changes = signal(0);
/** Ticks while the clock moves by itself. */
export const tick = signal(0);

/** The world's clock in milliseconds, extrapolated between readings. */
export const now = computed(() => {
  tick.value;
  const reading = clock.value;
  if (reading === undefined) return undefined;
  const factor = reading.mode === "manual" ? 0 : reading.mode === "real" ? 1 : reading.factor;
  return Date.parse(reading.now) + (performance.now() - reading.readAt) * factor;
});

/** The instant that the page shows. */
export const shownNow = computed(() => at.value ?? now.value);

export const projects = computed<readonly Project[]>(() =>
  (world.value?.projects ?? []).filter(({ deleted_at }) => deleted_at === undefined),
);
export const branches = computed<readonly Branch[]>(() =>
  (world.value?.branches ?? []).filter(({ deleted_at }) => deleted_at === undefined),
);
const projectIds = computed(() => new Set(projects.value.map(({ id }) => id)));
const branchIds = computed(() => new Set(branches.value.map(({ id }) => id)));
export const computes = computed<readonly Compute[]>(() =>
  (world.value?.endpoints ?? []).filter(
    ({ project_id, branch_id }) => projectIds.value.has(project_id) && branchIds.value.has(branch_id),
  ),
);
export const accounts = computed<readonly Account[]>(() => world.value?.accounts ?? []);

const projectById = computed(() => new Map(projects.value.map((project) => [project.id, project])));
const branchById = computed(() => new Map(branches.value.map((branch) => [branch.id, branch])));
const computeById = computed(() => new Map(computes.value.map((compute) => [compute.id, compute])));
export const findProject = (id: string): Project | undefined => projectById.value.get(id);
export const findBranch = (id: string): Branch | undefined => branchById.value.get(id);
export const findCompute = (id: string): Compute | undefined => computeById.value.get(id);

export const findAccount = (id: string): Account | undefined =>
  accounts.value.find((account) => account.id === id);

/** `storefront / main`, and `storefront / main (replica)` */
export function nameOfCompute(compute: Compute): string {
  const names = [findProject(compute.project_id)?.name, findBranch(compute.branch_id)?.name, compute.name];
  const path = names.filter((name) => name !== undefined).join(" / ");
  return compute.type === "read_only" ? `${path} (replica)` : path;
}
