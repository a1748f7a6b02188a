import fc from "fast-check";
import { REPLAY_PATH } from "../properties.ts";
import { tellActivity, tellCrowd } from "./activity-commands.ts";
import { createBranch, deleteBranch, leakBranches, setDefaultBranch, updateBranch } from "./branch-commands.ts";
import { advance } from "./clock.ts";
import { createEndpoint, deleteEndpoint, startSuspendRestart, updateEndpoint } from "./endpoint-commands.ts";
import type { Durations, PlatformModel } from "./platform-model.ts";
import { createProject, deleteProject, foundProject, reset, updateProject } from "./project-commands.ts";
import { type Command, modelOf, type Stage } from "./stage.ts";
import { advanceBy, advanceToNext, createKey, reopen, revokeKey, settle } from "./world-commands.ts";

/** What happens most in a platform's day comes most. */
const EVERY_DAY: readonly fc.Arbitrary<Command>[] = [
  ...[createProject, createProject, createBranch, createBranch, createEndpoint, createEndpoint, updateEndpoint, updateEndpoint],
  ...[startSuspendRestart, startSuspendRestart, deleteEndpoint, updateBranch, setDefaultBranch, deleteBranch, updateProject, deleteProject],
  ...[tellActivity, tellActivity, tellActivity, tellActivity, tellCrowd],
  ...[advanceBy, advanceBy, advanceBy, advanceBy, advanceToNext, advanceToNext, settle, settle, settle, settle, settle, settle, settle],
];
const NOW_AND_THEN: readonly fc.Arbitrary<Command>[] = [leakBranches, createKey, revokeKey, reset];

/** Sequences of commands; without keys, every one of them says the same in every world of the same seed. */
export function commandSequences({ keys = true, restarts = false, maxCommands = 40 } = {}) {
  const seldom = keys ? NOW_AND_THEN : NOW_AND_THEN.filter((command) => command !== createKey && command !== revokeKey);
  const all = [...EVERY_DAY, ...seldom, ...(restarts ? [reopen, reopen] : [])];
  return fc.commands(all, { maxCommands, size: "max", ...REPLAY_PATH });
}

export type CommandSequence = Iterable<Command>;

/** Plays them from a world on in which each account has a project that is up. */
export async function play(commands: CommandSequence, stage: Stage, durations: Durations = "fixed"): Promise<PlatformModel> {
  const model = await modelOf(stage.double(), durations);
  for (const account of model.accounts) await foundProject(model, stage, account);
  await advance(model, stage, { by: 10_000 });
  await fc.asyncModelRun(() => ({ model, real: stage }), commands);
  return model;
}
