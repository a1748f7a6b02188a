import type { CreateAccount } from "./account.ts";
import type { RecordActivity, ScheduleActivity } from "./activity.ts";
import type { CreateApiKey, RevokeApiKey } from "./api-key.ts";
import type { CreateBranch, DeleteBranch, SetDefaultBranch, UpdateBranch } from "./branch.ts";
import type { CreateCompute, DeleteCompute, RestartCompute, StartCompute, SuspendCompute, UpdateCompute } from "./compute.ts";
import type { CreateProject, DeleteProject, UpdateProject } from "./project.ts";
import type { WorldSettings } from "./world.ts";

type CreateWorld = { readonly type: "CreateWorld"; readonly settings: WorldSettings };
type ConfigureWorld = {
  readonly type: "ConfigureWorld";
  readonly settings: Partial<Pick<WorldSettings, "operations" | "startDelay" | "seed">>;
};
type ResetWorld = { readonly type: "ResetWorld" };

/** What may be asked of a world, in the imperative. */
export type Command =
  | CreateWorld
  | ConfigureWorld
  | ResetWorld
  | CreateAccount
  | CreateApiKey
  | RevokeApiKey
  | CreateProject
  | UpdateProject
  | DeleteProject
  | CreateBranch
  | UpdateBranch
  | DeleteBranch
  | SetDefaultBranch
  | CreateCompute
  | UpdateCompute
  | DeleteCompute
  | StartCompute
  | SuspendCompute
  | RestartCompute
  | RecordActivity
  | ScheduleActivity;

/** What falls due by itself. */
export type DueWork =
  | { readonly kind: "operation"; readonly id: string }
  | { readonly kind: "activity"; readonly id: string }
  | { readonly kind: "rescale"; readonly id: string }
  | { readonly kind: "autosuspend"; readonly id: string };
