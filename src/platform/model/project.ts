import type { SimTime } from "../../kernel/time.ts";
import type { ComputeOptions } from "./compute.ts";
import type { EventBase } from "./event-base.ts";

/** The defaults for new computes of a project. */
export type DefaultEndpointSettings = Pick<ComputeOptions, "minCu" | "maxCu" | "suspendTimeoutSeconds"> & {
  readonly pg_settings?: Readonly<Record<string, string>> | undefined;
  readonly pgbouncer_settings?: Readonly<Record<string, string>> | undefined;
};

/** Settings that are stored and returned unchanged. */
type ProjectSettings = Readonly<Record<string, unknown>>;

export type Project = {
  readonly id: string;
  readonly number: number;
  readonly accountId: string;
  readonly name: string;
  readonly regionId: string;
  readonly provisioner: string;
  readonly pgVersion: number;
  readonly storePasswords: boolean;
  readonly historyRetentionSeconds: number;
  readonly settings: ProjectSettings;
  readonly defaultEndpointSettings: DefaultEndpointSettings;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
  /** Set when it is deleted. From then on it appears only in lists of what can be recovered. */
  readonly deletedAt?: SimTime;
  /** S: until when it can be recovered; absent if it cannot. */
  readonly recoverableUntil?: SimTime;
};

export type CreateProject = {
  readonly type: "CreateProject";
  readonly accountId: string;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly regionId?: string | undefined;
  readonly provisioner?: string | undefined;
  readonly pgVersion?: number | undefined;
  readonly storePasswords?: boolean | undefined;
  readonly historyRetentionSeconds?: number | undefined;
  readonly settings?: ProjectSettings | undefined;
  readonly defaultEndpointSettings?: DefaultEndpointSettings | undefined;
  readonly branch?:
    | {
        readonly id?: string | undefined;
        readonly name?: string | undefined;
        readonly roleName?: string | undefined;
        readonly databaseName?: string | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly compute?: (ComputeOptions & { readonly id?: string | undefined }) | undefined;
};
export type UpdateProject = {
  readonly type: "UpdateProject";
  readonly accountId: string;
  readonly projectId: string;
  readonly name?: string | undefined;
  readonly historyRetentionSeconds?: number | undefined;
  readonly settings?: ProjectSettings | undefined;
  readonly defaultEndpointSettings?: DefaultEndpointSettings | undefined;
};
export type DeleteProject = {
  readonly type: "DeleteProject";
  readonly accountId: string;
  readonly projectId: string;
};

export type ProjectChanges = Partial<
  Pick<Project, "name" | "historyRetentionSeconds" | "settings" | "defaultEndpointSettings">
>;

export type ProjectCommand = CreateProject | UpdateProject | DeleteProject;

export type ProjectEvent =
  | (EventBase & { readonly type: "ProjectCreated"; readonly project: Project })
  | (EventBase & {
      readonly type: "ProjectUpdated";
      readonly projectId: string;
      readonly changes: ProjectChanges;
    })
  | (EventBase & {
      readonly type: "ProjectDeleted";
      readonly projectId: string;
      readonly recoverableUntil?: SimTime;
    })
  | (EventBase & { readonly type: "ProjectRecovered"; readonly projectId: string })
  | (EventBase & { readonly type: "ProjectRemoved"; readonly projectId: string })
  | (EventBase & {
      readonly type: "ProjectTransferred";
      readonly projectId: string;
      readonly accountId: string;
    });
