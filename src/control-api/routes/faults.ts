import * as z from "zod";
import { parseInput, parseJsonBody, readBody, unwrap } from "../../http/request.ts";
import { findFault } from "../../platform/rules/fault/decide-fault.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { givenName } from "../http/control-fields.ts";
import { faultFields, renderFault } from "../http/fault-fields.ts";
import { type ControlOptions, runRead, runTransaction } from "../http/handler.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

/** Injected faults of a world. */
export function faultRoutes({ operationIds }: ControlOptions): readonly ControlApiRoute[] {
  const fields = faultFields(operationIds);
  return [listFaults, setFaults(fields), removeFaults, setFault(fields), getFault, removeFault];
}

const listFaults = route("GET /faults", {}, ({ world }) => runRead(world, renderFaults));

const setFaults = (fields: FaultFields) =>
  route(
    "PUT /faults",
    { body: fields.all, documentedBody: fields.documentedAll },
    ({ world, body: faults }) =>
      runTransaction(world, (transaction) => {
        unwrap(transaction.execute({ type: "SetFaults", faults }));
        return renderFaults(transaction);
      }),
  );

const removeFaults = route("DELETE /faults", {}, ({ world }) =>
  runTransaction(world, (transaction) => {
    const removed = [...transaction.world.faults.values()].map(renderFault);
    unwrap(transaction.execute({ type: "SetFaults", faults: [] }));
    return { removed };
  }),
);

const setFault = (fields: FaultFields) =>
  route("PUT /faults/:name", { documentedBody: fields.any }, async ({ world, params }, context) => {
    const name = parseInput(z.object({ name: givenName }), params).name;
    const fault = parseInput(fields.one(name), parseJsonBody(await readBody(context)));
    return runTransaction(world, (transaction) => {
      unwrap(transaction.execute({ type: "SetFaults", faults: [fault], keepOthers: true }));
      return { fault: faultOf(transaction, name) };
    });
  });

const getFault = route("GET /faults/:name", {}, ({ world, params }) =>
  runRead(world, (transaction) => ({ fault: faultOf(transaction, params["name"] ?? "") })),
);

const removeFault = route("DELETE /faults/:name", {}, ({ world, params }) =>
  runTransaction(world, (transaction) => {
    const name = params["name"] ?? "";
    const removed = faultOf(transaction, name);
    unwrap(transaction.execute({ type: "RemoveFault", name }));
    return { removed };
  }),
);

type FaultFields = ReturnType<typeof faultFields>;

function renderFaults({ world }: Transaction) {
  return { faults: [...world.faults.values()].map(renderFault) };
}

function faultOf({ world }: Transaction, name: string) {
  return renderFault(unwrap(findFault(world, name)));
}
