import type { SimTime } from "../../kernel/time.ts";
import type { PreloadLibraries } from "../catalog/preload-libraries.ts";
import type { SizeRange } from "../catalog/sizes.ts";
import type { PendingLoad } from "./activity.ts";
import type { CacheStatistics } from "./cache.ts";
import type { EventBase } from "./event-base.ts";
import type { LoadAverageState } from "./load-average.ts";
import type { ComputeRef, ProjectRef } from "./object-refs.ts";
import type { Operation } from "./operation.ts";

/** R: `read_write` for the primary compute; S: `read_only` for a read replica. */
export type ComputeType = "read_write" | "read_only";

/** Settings of the compute's Postgres. They are stored and returned, but have no effect. */
type ComputeSettings = {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined;
  readonly pgbouncer_settings?: Readonly<Record<string, string>> | undefined;
  readonly preload_libraries?: PreloadLibraries | undefined;
};

/** The state that only an active compute has. */
export type ActivePhase = {
  readonly state: "active";
  readonly startedAt: SimTime;
  /** The size limits at its start. An update of the limits takes effect with the restart that it causes. */
  readonly range: SizeRange;
  readonly sizeCu: number;
  /** Up to when its usage is booked. */
  readonly meteredAt: SimTime;
  /** The compute release that it runs until its next start. */
  readonly release: number;
  readonly openTransactions: number;
  /** Queries served since the start. */
  readonly queries: number;
  /** Present if its size follows its load average. */
  readonly scaling?: ScalingState | undefined;
  /** Loads by the rule of earlier releases. */
  readonly readings: readonly LoadReading[];
  readonly cache: CacheStatistics;
  /** When the open span of its clients began; absent while they are idle. */
  readonly spanSince?: SimTime | undefined;
  /** A suspend is under way: connections are closed, and arrivals wait for the next start. */
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
  /** Arrivals while it was not active, served from the end of its start. */
  readonly waiting?: PendingLoad | undefined;
  /** R: the end of the last activity, in the future while a query runs; absent before the first. */
  readonly lastActiveAt?: SimTime | undefined;
  readonly startedAt?: SimTime | undefined;
  readonly suspendedAt?: SimTime | undefined;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** The settings of a compute that a caller may choose. */
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
  /** Scheduled after the operations that are under way, instead of being rejected because of them. */
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

/** What an update may change; everything else changes only as the compute runs. */
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

// Starts and suspends on request. Those caused by client activity are in decide-activity.ts.

export type StartCompute = ComputeRef & { readonly type: "StartCompute" };
export type SuspendCompute = ComputeRef & { readonly type: "SuspendCompute" };
export type RestartCompute = ComputeRef & { readonly type: "RestartCompute" };

/** What the size of an active compute with size limits depends on. */
export type ScalingState = {
  readonly average: LoadAverageState;
  /** Loads that a later reading will see, in order of arrival. */
  readonly running: readonly RunningLoad[];
  readonly resizedAt: SimTime;
};

/** A load, in load units, up to an instant (exclusive), or until its connection is closed. */
export type RunningLoad = {
  readonly load: number;
  readonly until: SimTime;
  readonly connectionId?: string;
};

/** The number of busy vCPUs, by the rule of earlier releases valid until an instant (exclusive). */
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
