import { setImmediate } from "node:timers/promises";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail, unwrap } from "../../http/request.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { clockMoved } from "../http/clock-moves.ts";
import { duration } from "../http/control-fields.ts";
import { runTransaction } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

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
      'must be {"endpoint_id":"ep-…","state":"active"|"idle"|"init"}, {"operation_id":"…"} to wait until it ends, or {"project_id":"…"} to wait until all its operations have ended',
  },
);

const waitBody = z.object({
  until,
  /** Wall-clock time: on a manual clock, another client has to advance the world in the meantime. */
  timeout: duration
    .refine((ms) => ms <= MAX_TIMEOUT_MS, "must not be longer than 10m")
    .default(DEFAULT_TIMEOUT_MS),
  /** Advances a manual clock from one due work to the next until the condition holds. */
  advance: z.boolean().default(false),
});

type WaitCondition = z.output<typeof until>;

/** Waits for a condition of the world. */
export function waitRoutes(): readonly ControlApiRoute[] {
  return [waitForCondition];
}

const waitForCondition = route("POST /wait", { body: waitBody }, async ({ world, body }, context) => {
  const wait = body.advance ? advanceUntil : waitUntil;
  await wait(world, body.until, body.timeout, context.req.raw.signal);
  return { now: formatInstant(world.now()), until: body.until };
});

/** The number of due works between two turns of the event loop, which the timeout needs. */
const ADVANCES_PER_TURN = 100;

/**
 * Advances a manual clock from one due work to the next until the condition holds. Fails with 409 when no work
 * is due, and with 408 when it takes too long.
 */
async function advanceUntil(
  world: WorldHandle,
  condition: WaitCondition,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  if ((await world.clock()).mode !== "manual")
    fail(badRequest("advance: requires a manual clock; this clock advances by itself"));
  const timedOut = AbortSignal.timeout(timeoutMs);
  for (let count = 1; !(await isFulfilled(world, condition)); count += 1) {
    if (signal.aborted) return;
    if (timedOut.aborted) failTimedOut(condition, timeoutMs);
    if ((await world.clock()).nextDue === undefined)
      fail({
        status: 409,
        code: "NOTHING_DUE",
        message: `no work is due, so waiting for ${describeCondition(condition)} would not end`,
      });
    await world.advance({ next: true });
    clockMoved(world);
    if (count % ADVANCES_PER_TURN === 0) await setImmediate();
  }
}

/** Resolves when the condition is fulfilled. Fails with 408 when it is not in time. */
async function waitUntil(
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
      // Checked now and after every commit, one check at a time. Subscribes first, so that no commit is
      // missed.
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
    failTimedOut(condition, timeoutMs);
  } finally {
    clearTimeout(timer);
    unsubscribe();
    signal.removeEventListener("abort", stop);
  }
}

function failTimedOut(condition: WaitCondition, timeoutMs: number): never {
  return fail({
    status: 408,
    code: "TIMED_OUT",
    message: `timed out after ${timeoutMs / 1000} s of wall-clock time, waiting for ${describeCondition(condition)}`,
  });
}

function describeCondition(condition: WaitCondition): string {
  if ("operation_id" in condition) return `operation ${condition.operation_id} to end`;
  if ("project_id" in condition) return `the operations of project ${condition.project_id} to end`;
  return `endpoint ${condition.endpoint_id} to be ${condition.state}`;
}

/** Checks each event, because an advance can pass through the state and leave it within one commit. */
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
