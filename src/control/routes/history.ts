import { Hono } from "hono";
import * as z from "zod";
import { found } from "../../http/request.ts";
import { refuse } from "../../platform/refusals.ts";
import type { Look, WorldHandle } from "../../worlds/world-handle.ts";
import { explainEndpoint } from "../explain/explain-endpoint.ts";
import { explainOperation } from "../explain/explain-operation.ts";
import { duration, point } from "../http/control-fields.ts";
import { type ControlOptions, handler, turnOf } from "../http/handler.ts";
import { strict } from "../http/strict-fields.ts";
import { instant } from "./records.ts";
import { renderState } from "./state.ts";

const atQuery = strict({ at: point.optional() });

/** Looks into what has been, and forgets some of it. */
export function historyRoutes(options: ControlOptions): Hono {
  const app = new Hono();

  app.get(
    "/state",
    handler(options, { query: atQuery }, ({ world, query }) => lookAt(world, query.at, (look) => renderState(look.world))),
  );

  app.get(
    "/explain/endpoints/:endpoint_id",
    handler(options, { query: atQuery }, ({ world, params, query }) =>
      lookAt(world, query.at, (look) => explainEndpoint(look, params["endpoint_id"] ?? "")),
    ),
  );

  app.get(
    "/explain/operations/:operation_id",
    handler(options, { query: atQuery }, ({ world, params, query }) =>
      lookAt(world, query.at, (look) => explainOperation(look, params["operation_id"] ?? "")),
    ),
  );

  app.post(
    "/compact",
    handler(options, { body: z.strictObject({ keep: duration }) }, async ({ world, body }) => {
      const { id, seq, forgottenSeq } = await world.compact(body.keep);
      return { history_id: id, seq, forgotten_seq: forgottenSeq, now: instant(world.now()), size_bytes: world.sizeBytes() };
    }),
  );

  return app;
}

/** A look at the world at a point of its history; without one, as it is now. */
async function lookAt<T>(world: WorldHandle, at: z.output<typeof point> | undefined, see: (look: Look) => T): Promise<T> {
  if (at === undefined) return turnOf(world, see);
  const past = await world.past(at);
  return past.ok ? see(past.value) : found(refuse(past.refusal.code, `at: ${past.refusal.message}`));
}
