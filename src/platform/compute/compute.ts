import type { PreloadLibraries } from "../catalog/preload-libraries.ts";
import type { SizeRange } from "../catalog/sizes.ts";
import type { ComputeRef, ProjectRef } from "../core/object-refs.ts";
import type { SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";
import type { Operation } from "../operation/operation.ts";
import type { PendingLoad } from "./activity.ts";
import type { CacheStatistics } from "./cache.ts";

/** R: `read_write` for the primary compute; S: `read_only` for a read replica. */
export type ComputeType = "read_write" | "read_only";

/** Settings that a compute keeps and gives back; its Postgres would read them. */
type ComputeSettings = {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined;
  readonly pgbouncer_settings?: Readonly<Record<string, string>> | undefined;
  readonly preload_libraries?: PreloadLibraries | undefined;
};

/** What only an active compute has. */
export type ActivePhase = {
  readonly state: "active";
  readonly startedAt: SimTime;
  /** The limits that it was started with; new ones come with the restart that an update brings. */
  readonly range: SizeRange;
  readonly sizeCu: number;
  /** Up to when its use is booked. */
  readonly meteredAt: SimTime;
  /** The compute release it runs until its next start. */
  readonly release: number;
  readonly openTransactions: number;
  /** Queries served since the start. */
  readonly queries: number;
  readonly readings: readonly LoadReading[];
  readonly cache: CacheStatistics;
  /** A suspend is running: connections are closed, arrivals wait for the next start. */
  readonly suspending: boolean;
};

type ComputePhase = { readonly state: "init" } | { readonly state: "idle" } | ActivePhase;

/** The process that runs Postgres for one branch; the API calls it an endpoint. */
export type Compute = {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
  readonly branchId: string;
  readonly regionId: string;
  readonly type: ComputeType;
  readonly name?: string | undefined;
  readonly range: SizeRange;
  /** In seconds; 0 is the default, -1 never (S). */
  readonly suspendTimeoutSeconds: number;
  readonly settings: ComputeSettings;
  readonly poolerEnabled: boolean;
  readonly passwordlessAccess: boolean;
  readonly disabled: boolean;
  readonly provisioner: string;
  readonly phase: ComputePhase;
  /** What arrived while it was not active, to be served from the end of its start. */
  readonly waiting?: PendingLoad | undefined;
  /** End of the last activity, in the future while a query runs; absent until the first (R). */
  readonly lastActiveAt?: SimTime | undefined;
  readonly startedAt?: SimTime | undefined;
  readonly suspendedAt?: SimTime | undefined;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** What a caller may choose for a compute. */
export type ComputeOptions = {
  readonly name?: string | undefined;
  readonly minCu?: number | undefined;
  readonly maxCu?: number | undefined;
  readonly suspendTimeoutSeconds?: number | undefined;
  readonly settings?: ComputeSettings | undefined;
  readonly poolerEnabled?: boolean | undefined;
  readonly passwordlessAccess?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly provisioner?: string | undefined;
};

export type CreateCompute = ProjectRef & {
  readonly type: "CreateCompute";
  readonly id?: string | undefined;
  readonly branchId: string;
  readonly regionId?: string | undefined;
  /** Nobody waits for it: it is scheduled behind what is under way, in the place of a refusal. */
  readonly queue?: true;
  readonly computeType: ComputeType;
  readonly options: ComputeOptions;
};
export type UpdateCompute = ComputeRef & {
  readonly type: "UpdateCompute";
  readonly branchId?: string | undefined;
  readonly options: ComputeOptions;
};
export type DeleteCompute = ComputeRef & { readonly type: "DeleteCompute" };

/** What an update may change; the rest of a compute is moved by its life alone. */
export type ComputeChanges = Partial<
  Pick<
    Compute,
    | "branchId"
    | "name"
    | "range"
    | "suspendTimeoutSeconds"
    | "settings"
    | "poolerEnabled"
    | "passwordlessAccess"
    | "disabled"
    | "provisioner"
  >
>;

// What a caller tells a compute to do. What a client's activity makes of it is in activity.ts.

export type StartCompute = ComputeRef & { readonly type: "StartCompute" };
export type SuspendCompute = ComputeRef & { readonly type: "SuspendCompute" };
export type RestartCompute = ComputeRef & { readonly type: "RestartCompute" };

/** One look at the load of a compute: so many vCPUs busy (load1), believed until an instant. */
export type LoadReading = { readonly load: number; readonly until: SimTime };

export type ComputeCommand = CreateCompute | UpdateCompute | DeleteCompute;
export type ComputeLifecycleCommand = StartCompute | SuspendCompute | RestartCompute;

type ComputeEventBase = EventBase & { readonly endpointId: string };

export type ComputeEvent =
  | (EventBase & { readonly type: "ComputeCreated"; readonly compute: Compute })
  | (ComputeEventBase & { readonly type: "ComputeUpdated"; readonly changes: ComputeChanges })
  | (ComputeEventBase & { readonly type: "ComputeDeleted" })
  | (ComputeEventBase & { readonly type: "ComputeActivated"; readonly release: number })
  | (ComputeEventBase & { readonly type: "ComputeSuspending" })
  | (ComputeEventBase & { readonly type: "ComputeSuspended"; readonly cause: Operation["cause"] })
  | (ComputeEventBase & { readonly type: "ComputeResized"; readonly sizeCu: number })
  | (ComputeEventBase & { readonly type: "ComputeStartFailed" })
  | (ComputeEventBase & { readonly type: "ComputeSuspendFailed" });
