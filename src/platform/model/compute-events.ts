import type { Compute, ComputeChanges, ComputeOptions, ComputeType } from "./compute.ts";
import type { EventBase } from "./event-base.ts";
import type { ComputeRef, ProjectRef } from "./object-refs.ts";
import type { Operation } from "./operation.ts";

export type CreateCompute = ProjectRef & {
  readonly type: "CreateCompute";
  readonly id?: string | undefined;
  readonly branchId: string;
  readonly regionId?: string | undefined;
  /** Scheduled after the operations that are in progress, instead of being rejected because of them. */
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

// Commands of API callers. `RecordActivity` (activity.ts) can also start a compute.

export type StartCompute = ComputeRef & { readonly type: "StartCompute" };
export type SuspendCompute = ComputeRef & { readonly type: "SuspendCompute" };
export type RestartCompute = ComputeRef & { readonly type: "RestartCompute" };

export type ComputeCommand = CreateCompute | UpdateCompute | DeleteCompute;
export type ComputeLifecycleCommand = StartCompute | SuspendCompute | RestartCompute;

type ComputeEventBase = EventBase & { readonly endpointId: string };

export type ComputeEvent =
  | (EventBase & { readonly type: "ComputeCreated"; readonly compute: Compute })
  | (ComputeEventBase & { readonly type: "ComputeUpdated"; readonly changes: ComputeChanges })
  | (ComputeEventBase & { readonly type: "ComputeDeleted" })
  | (ComputeEventBase & {
      readonly type: "ComputeActivated";
      readonly release: number;
      /** If it scales: a drawn number that determines when its load is read; see `LoadReadingTimes`. */
      readonly readingSeed?: number;
    })
  | (ComputeEventBase & { readonly type: "ComputeSuspending" })
  | (ComputeEventBase & { readonly type: "ComputeSuspended"; readonly cause: Operation["cause"] })
  | (ComputeEventBase & { readonly type: "ComputeResized"; readonly sizeCu: number })
  | (ComputeEventBase & { readonly type: "ComputeStartFailed" })
  | (ComputeEventBase & { readonly type: "ComputeSuspendFailed" });
