import fc from "fast-check";
import { REPLAY_PATH } from "../properties/properties.ts";
import { connectManyClients, recordActivity } from "./activity-commands.ts";
import {
  createBranch,
  deleteBranch,
  leakBranches,
  setDefaultBranch,
  updateBranch,
} from "./branch-commands.ts";
import { advance } from "./clock.ts";
import { createEndpoint, deleteEndpoint, startSuspendRestart, updateEndpoint } from "./endpoint-commands.ts";
import { type Command, type ModelHost, modelOf } from "./model-command.ts";
import type { Durations, PlatformModel } from "./platform-model.ts";
import { createProject, deleteProject, reset, setUpProject, updateProject } from "./project-commands.ts";
import {
  advanceBy,
  advanceToNext,
  createKey,
  reopen,
  revokeKey,
  waitForOperations,
} from "./world-commands.ts";

/** Weights follow how often the requests occur on a platform. */
const FREQUENT_COMMANDS: readonly fc.Arbitrary<Command>[] = [
  ...[
    createProject,
    createProject,
    createBranch,
    createBranch,
    createEndpoint,
    createEndpoint,
    updateEndpoint,
    updateEndpoint,
  ],
  ...[
    startSuspendRestart,
    startSuspendRestart,
    deleteEndpoint,
    updateBranch,
    setDefaultBranch,
    deleteBranch,
    updateProject,
    deleteProject,
  ],
  ...[recordActivity, recordActivity, recordActivity, recordActivity, connectManyClients],
  ...[
    advanceBy,
    advanceBy,
    advanceBy,
    advanceBy,
    advanceToNext,
    advanceToNext,
    waitForOperations,
    waitForOperations,
    waitForOperations,
    waitForOperations,
    waitForOperations,
    waitForOperations,
    waitForOperations,
  ],
];
const RARE_COMMANDS: readonly fc.Arbitrary<Command>[] = [leakBranches, createKey, revokeKey, reset];

/** Sequences of commands. Without API key commands, a sequence sends the same requests in all worlds of one seed. */
export function commandSequences({ keys = true, restarts = false, maxCommands = 40 } = {}) {
  const rare = keys
    ? RARE_COMMANDS
    : RARE_COMMANDS.filter((command) => command !== createKey && command !== revokeKey);
  const all = [...FREQUENT_COMMANDS, ...rare, ...(restarts ? [reopen, reopen] : [])];
  return fc.commands(all, { maxCommands, size: "max", ...REPLAY_PATH });
}

export type CommandSequence = Iterable<Command>;

/** Runs them in a world in which each account has a project without unfinished operations. */
export async function runCommands(
  commands: CommandSequence,
  host: ModelHost,
  durations: Durations = "fixed",
): Promise<PlatformModel> {
  const model = await modelOf(host.double(), durations);
  for (const account of model.accounts) await setUpProject(model, host, account);
  await advance(model, host, { by: 10_000 });
  await fc.asyncModelRun(() => ({ model, real: host }), commands);
  return model;
}
