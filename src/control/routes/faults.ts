import { Hono } from "hono";
import * as z from "zod";
import { found, jsonOf, parse, readBody } from "../../http/request.ts";
import { findFault } from "../../platform/fault/fault.ts";
import type { Turn } from "../../worlds/world-handle.ts";
import { faultFields, faultName, renderFault } from "../http/fault-fields.ts";
import { type ControlOptions, handler, turnOf } from "../http/handler.ts";

/** Faults of a world: what goes wrong in it, and when. */
export function faultRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  const fields = faultFields(options.operationIds);

  app.get(
    "/faults",
    handler(options, {}, ({ world }) => turnOf(world, renderFaults)),
  );

  app.put(
    "/faults",
    handler(options, { body: fields.all }, ({ world, body: faults }) =>
      turnOf(world, (turn) => {
        found(turn.execute({ type: "SetFaults", faults }));
        return renderFaults(turn);
      }),
    ),
  );

  app.delete(
    "/faults",
    handler(options, {}, ({ world }) =>
      turnOf(world, (turn) => {
        const removed = [...turn.world.faults.values()].map(renderFault);
        found(turn.execute({ type: "SetFaults", faults: [] }));
        return { removed };
      }),
    ),
  );

  app.put(
    "/faults/:name",
    handler(options, {}, async ({ world, params }, context) => {
      const name = parse(z.object({ name: faultName }), params).name;
      const fault = parse(fields.one(name), jsonOf(await readBody(context)));
      return turnOf(world, (turn) => {
        found(turn.execute({ type: "SetFaults", faults: [fault], keepOthers: true }));
        return { fault: faultOf(turn, name) };
      });
    }),
  );

  app.get(
    "/faults/:name",
    handler(options, {}, ({ world, params }) => turnOf(world, (turn) => ({ fault: faultOf(turn, params["name"] ?? "") }))),
  );

  app.delete(
    "/faults/:name",
    handler(options, {}, ({ world, params }) =>
      turnOf(world, (turn) => {
        const name = params["name"] ?? "";
        const removed = faultOf(turn, name);
        found(turn.execute({ type: "RemoveFault", name }));
        return { removed };
      }),
    ),
  );

  return app;
}

function renderFaults({ world }: Turn) {
  return { faults: [...world.faults.values()].map(renderFault) };
}

function faultOf({ world }: Turn, name: string) {
  return renderFault(found(findFault(world, name)));
}
