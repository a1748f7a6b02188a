import { setImmediate as nextTurn } from "node:timers/promises";
import * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import type { World } from "../../platform/world/world.ts";
import { invariantSteps } from "../../simulation/invariants.ts";
import type { WorldHandle, WorldView } from "../../worlds/world-handle.ts";
import { explainEndpoint } from "../explain/explain-endpoint.ts";
import { explainOperation } from "../explain/explain-operation.ts";
import { duration, point } from "../http/control-fields.ts";
import { runRead } from "../http/handler.ts";
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
    return streamJson(await withViewAt(world, at, (view) => resultOf(stepsIn(view.world))));
  },
);

const getEndpointExplanation = route(
  "GET /explain/endpoints/:endpoint_id",
  { query: atQuery },
  ({ world, params, query }) =>
    withViewAt(world, query.at, (view) => explainEndpoint(view, params["endpoint_id"] ?? "")),
);

const getOperationExplanation = route(
  "GET /explain/operations/:operation_id",
  { query: atQuery },
  ({ world, params, query }) =>
    withViewAt(world, query.at, (view) => explainOperation(view, params["operation_id"] ?? "")),
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

/** Takes all steps at once. */
function resultOf<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Reads the world at a point of its history; without a point, as it is now. */
async function withViewAt<T>(
  world: WorldHandle,
  at: z.output<typeof point> | undefined,
  read: (view: WorldView) => T,
): Promise<T> {
  if (at === undefined) return runRead(world, read);
  const past = await world.viewAt(at);
  return past.ok ? read(past.value) : unwrap(refuse(past.refusal.code, `at: ${past.refusal.message}`));
}
