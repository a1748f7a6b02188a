import { setImmediate as nextTurn } from "node:timers/promises";
import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { runToEnd } from "../../kernel/run-to-end.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import type { World } from "../../platform/world/world.ts";
import { invariantSteps } from "../../simulation/invariants.ts";
import type { PastView, ViewAbout, WorldHandle, WorldView } from "../../worlds/world-handle.ts";
import { explainEndpoint } from "../explain/explain-endpoint.ts";
import { explainOperation } from "../explain/explain-operation.ts";
import { MAX_EVENTS } from "../explain/explanation.ts";
import { duration, point } from "../http/control-fields.ts";
import { runRead, runReadAbout } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { streamJson } from "../http/stream-json.ts";
import { nameListField, strict } from "../http/strict-fields.ts";
import { STATE_FIELDS, stateSteps } from "./state.ts";

const MAX_PROJECTS = 1_000;
/** Takes a few milliseconds. */
const LEDGERS_READ_PER_TURN = 300;
const atQuery = strict({ at: point.optional() });
const stateQuery = strict({
  at: point.optional(),
  fields: z
    .preprocess(
      (text) => (typeof text === "string" ? text.split(",") : text),
      nameListField("field", STATE_FIELDS),
    )
    .optional(),
  project_id: z
    .string()
    .transform((text) => text.split(","))
    .refine((ids) => ids.length <= MAX_PROJECTS, `must be at most ${MAX_PROJECTS} ids, separated by commas`)
    .optional(),
});

/** Reads the state at a point of history, explains and checks it, and compacts history. */
export function historyRoutes(): readonly ControlApiRoute[] {
  return [getState, getEndpointExplanation, getOperationExplanation, compactHistory, checkWorldInvariants];
}

const getState = route(
  "GET /state",
  { query: stateQuery },
  async ({ world, query: { at, fields, project_id } }) => {
    const hasAllUsage = project_id === undefined && (fields ?? STATE_FIELDS).includes("hourly_usage");
    if (at === undefined && hasAllUsage) await readHourlyUsage(world);
    const stepsIn = (view: World) => stateSteps(view, fields, project_id);
    if (at === undefined && project_id === undefined) return streamJson(await world.inspect(stepsIn));
    return streamJson(await withViewAt(world, at, (view) => runToEnd(stepsIn(view.world))));
  },
);

const getEndpointExplanation = route(
  "GET /explain/endpoints/:endpoint_id",
  { query: atQuery },
  async ({ world, params, query }) => {
    const id = params["endpoint_id"] ?? "";
    const check = (view: WorldView) => void unwrap(findReachableCompute(view.world, id));
    return withEventsAbout(world, query.at, id, check, (view) => explainEndpoint(view, id));
  },
);

const getOperationExplanation = route(
  "GET /explain/operations/:operation_id",
  { query: atQuery },
  async ({ world, params, query }) => {
    const id = params["operation_id"] ?? "";
    return withEventsAbout(
      world,
      query.at,
      id,
      () => undefined,
      (view) => explainOperation(view, id),
    );
  },
);

const compactHistory = route(
  "POST /compact",
  { body: z.strictObject({ keep: duration }) },
  async ({ world, body }) => {
    const { id, seq, forgottenSeq } = await world.compact(body.keep);
    return {
      history_id: id,
      seq,
      forgotten_seq: forgottenSeq,
      now: formatInstant(world.now()),
      size_bytes: world.sizeBytes(),
    };
  },
);

const checkWorldInvariants = route("GET /invariants", {}, ({ world }) => world.inspect(invariantSteps));

/** Reads the stored rows in portions: reading all of them at once would block other requests. */
async function readHourlyUsage(world: WorldHandle): Promise<void> {
  while (!(await runRead(world, (view) => view.world.hourlyUsage.read(LEDGERS_READ_PER_TURN))))
    await nextTurn();
}

/** Reads the world at a point of its history; without a point, as it is now. */
async function withViewAt<T>(
  world: WorldHandle,
  at: z.output<typeof point> | undefined,
  read: (view: WorldView) => T,
): Promise<T> {
  return at === undefined ? runRead(world, read) : read(await pastAt(world, at));
}

/** The same, with the events about an object, after `check` has accepted the world. */
async function withEventsAbout<T>(
  world: WorldHandle,
  at: z.output<typeof point> | undefined,
  id: string,
  check: (view: WorldView) => void,
  read: (view: ViewAbout) => T,
): Promise<T> {
  const object = { id, limit: MAX_EVENTS };
  if (at === undefined) {
    await runRead(world, check);
    return runReadAbout(world, object, read);
  }
  const past = await pastAt(world, at);
  check(past);
  return read({ ...past, found: await past.searchAbout(object) });
}

async function pastAt(world: WorldHandle, at: z.output<typeof point>): Promise<PastView> {
  const past = await world.viewAt(at);
  return past.ok ? past.value : unwrap(refuse(past.refusal.code, `at: ${past.refusal.message}`));
}
