import * as z from "zod";
import { messageOf } from "../../../kernel/message-of.ts";
import { suspendTimeoutOfDelay } from "../../../platform/catalog/suspend-timeout.ts";
import {
  apiErrorOf,
  type ControlApi,
  isSuccess,
  printable,
  type ServerApi,
} from "../../../ports/server-api.ts";
import { ProjectCalls } from "../../../remote/client/project-calls.ts";
import { listAll, listProjects, parsedBody } from "../../../remote/client/read-lists.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { type DelayTarget, updateBody } from "./delay-calls.ts";
import type { ComputeDelay } from "./saved-answer.ts";

/** A compute of a server that is to get a delay. */
export type ServerTarget = DelayTarget & {
  readonly projectId: string;
  /** S: 0 is the default of the server, -1 never. */
  readonly currentS: number | undefined;
};

export type ServerTargets = {
  readonly changed: readonly ServerTarget[];
  /** Computes that have their delay already. */
  readonly unchanged: readonly string[];
  /** Computes that the server does not have. */
  readonly missing: readonly string[];
};

const projectsSchema = z.array(z.object({ id: z.string() }));
const endpointsSchema = z.array(
  z.object({
    id: z.string(),
    branch_id: z.string(),
    type: z.string(),
    suspend_timeout_seconds: z.number().nullish(),
  }),
);

/** Finds the computes on a server, with GET only. */
export async function findComputes(api: ServerApi, delays: readonly ComputeDelay[]): Promise<ServerTargets> {
  const found = new Map<string, ServerTarget>();
  const delayOf = new Map<string, SuspendDelay>(delays.map(({ compute, delay }) => [compute, delay]));
  for (const { id: projectId } of parsedBody(api, "/projects", await listProjects(api), projectsSchema)) {
    const path = `/projects/${encodeURIComponent(projectId)}/endpoints`;
    const endpoints = parsedBody(api, path, await listAll(api, path, "endpoints"), endpointsSchema);
    for (const { id, branch_id: branchId, type, suspend_timeout_seconds } of endpoints) {
      const delay = delayOf.get(id);
      if (delay === undefined) continue;
      for (const text of [projectId, branchId, type]) checkWord(api, text);
      const currentS = suspend_timeout_seconds ?? undefined;
      found.set(id, { compute: id, delay, projectId, branchId, type, currentS });
    }
  }
  const targets = delays.flatMap(({ compute }) => found.get(compute) ?? []);
  const isSet = ({ delay, currentS }: ServerTarget) => currentS === suspendTimeoutOfDelay(delay);
  return {
    changed: targets.filter((target) => !isSet(target)),
    unchanged: targets.filter(isSet).map(({ compute }) => compute),
    missing: delays.filter(({ compute }) => !found.has(compute)).map(({ compute }) => compute),
  };
}

/**
 * Sets the delays, one after another. Throws at the first rejection or interruption, and names what was changed before.
 * `howToUndo`: for that error.
 */
export async function setDelays(
  api: ServerApi,
  control: ControlApi | undefined,
  targets: readonly ServerTarget[],
  onProgress: (done: number, of: number) => Promise<void>,
  howToUndo: string,
): Promise<void> {
  const calls = new ProjectCalls(api, control);
  for (const [done, { compute, delay, projectId }] of targets.entries()) {
    await onProgress(done, targets.length);
    const project = `/projects/${projectId}`;
    const reject = (reason: string) => {
      const before = targets.slice(0, done).map((target) => target.compute);
      return new CliError(
        `${compute}: ${printable(reason)}; ${before.length === 0 ? "nothing was changed" : `changed before it: ${before.join(", ")}`}. ${howToUndo}`,
      );
    };
    const response = await calls
      .change(project, "PATCH", `${project}/endpoints/${compute}`, updateBody(delay))
      .catch((error: unknown) => {
        throw reject(messageOf(error));
      });
    if (!isSuccess(response))
      throw reject(`${response.status} ${api.sanitize(apiErrorOf(response).message ?? "")}`.trimEnd());
  }
}

/** Ids of a server become part of shell commands. */
function checkWord(api: ServerApi, text: string): void {
  if (!/^[\w-]{1,100}$/.test(text))
    throw new CliError(`${api.url}: the server has an invalid id: ${printable(JSON.stringify(text))}`);
}
