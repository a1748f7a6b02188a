import { Hono } from "hono";
import * as z from "zod";
import { parseInput, parseJsonBody, readBody, unwrap } from "../../http/request.ts";
import { findFault } from "../../platform/rules/fault/decide-fault.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { givenName } from "../http/control-fields.ts";
import { faultFields, renderFault } from "../http/fault-fields.ts";
import { type ControlOptions, handler, runTransaction } from "../http/handler.ts";

/** Injected faults of a world. */
export function faultRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  const fields = faultFields(options.operationIds);

  app.get(
    "/faults",
    handler(options, {}, ({ world }) => runTransaction(world, renderFaults)),
  );

  app.put(
    "/faults",
    handler(options, { body: fields.all, documentedBody: fields.documentedAll }, ({ world, body: faults }) =>
      runTransaction(world, (transaction) => {
        unwrap(transaction.execute({ type: "SetFaults", faults }));
        return renderFaults(transaction);
      }),
    ),
  );

  app.delete(
    "/faults",
    handler(options, {}, ({ world }) =>
      runTransaction(world, (transaction) => {
        const removed = [...transaction.world.faults.values()].map(renderFault);
        unwrap(transaction.execute({ type: "SetFaults", faults: [] }));
        return { removed };
      }),
    ),
  );

  app.put(
    "/faults/:name",
    handler(options, { documentedBody: fields.any }, async ({ world, params }, context) => {
      const name = parseInput(z.object({ name: givenName }), params).name;
      const fault = parseInput(fields.one(name), parseJsonBody(await readBody(context)));
      return runTransaction(world, (transaction) => {
        unwrap(transaction.execute({ type: "SetFaults", faults: [fault], keepOthers: true }));
        return { fault: faultOf(transaction, name) };
      });
    }),
  );

  app.get(
    "/faults/:name",
    handler(options, {}, ({ world, params }) =>
      runTransaction(world, (transaction) => ({ fault: faultOf(transaction, params["name"] ?? "") })),
    ),
  );

  app.delete(
    "/faults/:name",
    handler(options, {}, ({ world, params }) =>
      runTransaction(world, (transaction) => {
        const name = params["name"] ?? "";
        const removed = faultOf(transaction, name);
        unwrap(transaction.execute({ type: "RemoveFault", name }));
        return { removed };
      }),
    ),
  );

  return app;
}

function renderFaults({ world }: Transaction) {
  return { faults: [...world.faults.values()].map(renderFault) };
}

function faultOf({ world }: Transaction, name: string) {
  return renderFault(unwrap(findFault(world, name)));
}
