import * as z from "zod";
import { fail, unwrap } from "../../http/request.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { refuse } from "../../platform/refusals.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { duration } from "../http/control-fields.ts";
import { runTransaction } from "../http/handler.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;

const until = z.union(
  [
    z.strictObject({ endpoint_id: z.string(), state: z.enum(["init", "active", "idle"]) }),
    z.strictObject({ operation_id: z.string() }),
    z.strictObject({ project_id: z.string() }),
  ],
  {
    error:
      'must be {"endpoint_id":"ep-…","state":"active"|"idle"|"init"}, {"operation_id":"…"} for its end, or {"project_id":"…"} for the end of all its operations',
  },
);

export const waitBody = z.object({
  until,
  /** Of the wall: on a manual clock, somebody else has to move the world meanwhile. */
  timeout: duration
    .refine((ms) => ms <= MAX_TIMEOUT_MS, "must not be longer than 10m")
    .default(DEFAULT_TIMEOUT_MS),
});

type WaitCondition = z.output<typeof until>;

/** Resolves when the world is as asked for; the answer is the error 408 when it is not in time. */
export async function waitUntil(
  world: WorldHandle,
  condition: WaitCondition,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe = () => {};
  let stop = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      // Looked at now and after every commit, one look at a time; listening first, so that nothing slips in between.
      let checking = Promise.resolve();
      const check = () => {
        checking = checking.then(async () => {
          if (await isFulfilled(world, condition)) resolve();
        });
        checking.catch(reject);
      };
      unsubscribe = world.subscribe((events) => {
        if (events.some((event) => isFulfilledBy(event, condition))) resolve();
        else check();
      });
      check();
      stop = resolve;
      signal.addEventListener("abort", stop, { once: true });
      timer = setTimeout(() => reject(new Error("timeout")), timeoutMs);
    });
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "timeout") throw error;
    fail({
      status: 408,
      code: "TIMED_OUT",
      message: `not so within ${timeoutMs} ms of the wall: until ${JSON.stringify(condition)}`,
    });
  } finally {
    clearTimeout(timer);
    unsubscribe();
    signal.removeEventListener("abort", stop);
  }
}

/** An advance may lead through what one waits for and beyond, all in one commit. */
function isFulfilledBy(event: RecordedEvent, condition: WaitCondition): boolean {
  if ("operation_id" in condition) {
    const ends = event.type === "OperationFinished" || event.type === "OperationCancelled";
    return ends && event.operationId === condition.operation_id;
  }
  if (!("endpoint_id" in condition)) return false;
  const type = { init: "ComputeCreated", active: "ComputeActivated", idle: "ComputeSuspended" }[
    condition.state
  ];
  return event.type === type && "endpointId" in event && event.endpointId === condition.endpoint_id;
}

function isFulfilled(world: WorldHandle, condition: WaitCondition): Promise<boolean> {
  return runTransaction(world, (transaction) => isFulfilledIn(transaction, condition));
}

function isFulfilledIn(transaction: Transaction, condition: WaitCondition): boolean {
  const { world } = transaction;
  if ("operation_id" in condition) {
    const operation = transaction.operation(condition.operation_id);
    if (operation === undefined)
      return unwrap(
        refuse("OPERATION_NOT_FOUND", `until.operation_id: operation "${condition.operation_id}" not found`),
      );
    return operation.state.status !== "scheduling" && operation.state.status !== "running";
  }
  if ("project_id" in condition) {
    if (world.projects.get(condition.project_id) === undefined) {
      return unwrap(
        refuse("PROJECT_NOT_FOUND", `until.project_id: project "${condition.project_id}" not found`),
      );
    }
    return world.operations.by("project", condition.project_id).size === 0;
  }
  const compute = world.computes.get(condition.endpoint_id);
  if (compute === undefined)
    return unwrap(
      refuse("ENDPOINT_NOT_FOUND", `until.endpoint_id: endpoint "${condition.endpoint_id}" not found`),
    );
  return compute.phase.state === condition.state;
}
