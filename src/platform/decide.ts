import { decideCreateAccount } from "./account.ts";
import { decideActivity, decideArrival, decideScheduleActivity } from "./activity.ts";
import { decideCreateApiKey, decideRevokeApiKey } from "./api-key.ts";
import { decideRescale } from "./autoscaling.ts";
import { decideAutosuspend } from "./autosuspend.ts";
import { decideCreateBranch, decideDeleteBranch, decideSetDefaultBranch, decideUpdateBranch } from "./branch.ts";
import type { Command, DueWork } from "./commands.ts";
import {
  decideCreateCompute,
  decideDeleteCompute,
  decideRestartCompute,
  decideStartCompute,
  decideSuspendCompute,
  decideUpdateCompute,
} from "./compute.ts";
import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { decideFinishOperation } from "./operation-end.ts";
import { decideCreateProject, decideDeleteProject, decideUpdateProject } from "./project.ts";
import { accept, type Result } from "./refusals.ts";
import type { World } from "./world.ts";

/** What a command makes happen in this world at this instant, or why it does not. Changes nothing. */
export function decide(world: World, command: Command, context: Context): Result<Event[]> {
  const at = context.now;
  switch (command.type) {
    case "CreateWorld":
      return accept([{ type: "WorldCreated", at, world: command.settings }]);
    case "ConfigureWorld":
      return accept([{ type: "WorldConfigured", at, changes: command.settings }]);
    case "ResetWorld":
      return accept([{ type: "WorldReset", at }]);
    case "CreateAccount":
      return decideCreateAccount(world, command, context);
    case "CreateApiKey":
      return decideCreateApiKey(world, command, context);
    case "RevokeApiKey":
      return decideRevokeApiKey(world, command, context);
    case "CreateProject":
      return decideCreateProject(world, command, context);
    case "UpdateProject":
      return decideUpdateProject(world, command, context);
    case "DeleteProject":
      return decideDeleteProject(world, command, context);
    case "CreateBranch":
      return decideCreateBranch(world, command, context);
    case "UpdateBranch":
      return decideUpdateBranch(world, command, context);
    case "DeleteBranch":
      return decideDeleteBranch(world, command, context);
    case "SetDefaultBranch":
      return decideSetDefaultBranch(world, command, context);
    case "CreateCompute":
      return decideCreateCompute(world, command, context);
    case "UpdateCompute":
      return decideUpdateCompute(world, command, context);
    case "DeleteCompute":
      return decideDeleteCompute(world, command, context);
    case "StartCompute":
      return decideStartCompute(world, command, context);
    case "SuspendCompute":
      return decideSuspendCompute(world, command, context);
    case "RestartCompute":
      return decideRestartCompute(world, command, context);
    case "RecordActivity":
      return decideActivity(world, command, context);
    case "ScheduleActivity":
      return decideScheduleActivity(world, command, context);
    default:
      return command satisfies never;
  }
}

/** What happens when due work is due; nothing where it is gone or its deadline has moved. */
export function decideDue(world: World, work: DueWork, context: Context): Event[] {
  switch (work.kind) {
    case "operation": {
      const operation = world.operations.get(work.id);
      return operation === undefined ? [] : decideFinishOperation(world, operation, context);
    }
    case "activity": {
      const scheduled = world.scheduledActivities.get(work.id);
      return scheduled === undefined ? [] : decideArrival(world, scheduled, context);
    }
    case "rescale":
    case "autosuspend": {
      const compute = world.computes.get(work.id);
      if (compute === undefined) return [];
      const decided = work.kind === "rescale" ? decideRescale(compute, context) : decideAutosuspend(world, compute, context);
      return decided.ok ? decided.value : [];
    }
    default:
      return work satisfies never;
  }
}
