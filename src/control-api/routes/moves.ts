import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail, parseInput, parseJsonBody, readBody, unwrap } from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { WorldMoves } from "../../worlds/moves/world-move.ts";
import { worldName } from "../http/control-fields.ts";
import type { ControlOptions } from "../http/handler.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";

/** A call may carry the passwords of all roles of a world. */
const SECRETS = { bytes: MAX.moveSecretsBody, values: MAX.moveSecretsValues };

const TO_RULE = "must be the URL of another server, such as http://10.0.0.2:4620";
const move = z.strictObject({
  to: z
    .url({ protocol: /^https?$/, error: TO_RULE })
    .transform((url) => new URL(url))
    .refine(({ pathname, search, username }) => pathname === "/" && search === "" && username === "", TO_RULE)
    .transform(({ origin }) => origin),
  control_token: z.string().min(1).optional(),
});

const historyId = z.string().min(1).max(64);
const moving = z.strictObject({ history_id: historyId, size_bytes: z.int().min(0) });
const part = z
  .string()
  .regex(/^(file|log|snapshot:[a-z0-9][a-z0-9._-]{0,99})$/, "must be file, log, or snapshot:<name>");
const parts = z.array(
  z
    .strictObject({
      name: part,
      bytes: z.int().min(0),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      taken_at: z.number().min(0).optional(),
    })
    .transform(({ taken_at, ...sum }) => ({ ...sum, takenAt: taken_at })),
);
const prepared = z.strictObject({
  parts,
  secrets: z.array(z.strictObject({ id: z.string(), value: z.string() })),
});
const moved = prepared.extend({ history_id: historyId, seq: z.int().min(0) });
const offsetQuery = strict({
  offset: z
    .string()
    .regex(/^\d{1,15}$/, "must be a position in bytes")
    .transform(Number),
});

/** Moves worlds to other servers, and receives them. */
export function moveRoutes(): readonly ControlApiRoute[] {
  return [
    moveWorld,
    getMove,
    forgetMove,
    beginArrival,
    writeArrival,
    prepareArrival,
    completeArrival,
    settleArrival,
  ];
}

const moveWorld = route(
  "POST /worlds/:name/move",
  { body: move },
  async ({ server, params, body: { to, control_token } }, context) => {
    const moves = requireMoves(server);
    const name = nameOf(params);
    const destination = await server.destinationAt?.({ world: name, url: to, token: control_token });
    if (destination === undefined) return fail(badRequest("to: this server cannot call other servers"));
    return { name, ...unwrap(await moves.move(name, destination, context.req.raw.signal)) };
  },
);

const getMove = route("GET /worlds/:name/move", {}, ({ server, params }) => {
  const progress = requireMoves(server).progress(nameOf(params));
  if (progress === undefined) return { moving: false };
  const { to, sentBytes, totalBytes } = progress;
  return { moving: true, to, sent_bytes: sentBytes, total_bytes: totalBytes };
});

const forgetMove = route("DELETE /worlds/:name/move", {}, async ({ server, params }) => {
  const name = nameOf(params);
  unwrap(await requireMoves(server).forget(name));
  return { name, deleted: true };
});

const beginArrival = route(
  "POST /worlds/:name/arrival",
  { body: moving, status: 201 },
  async ({ server, params, body: { history_id, size_bytes } }) => {
    const { arrivals } = requireMoves(server);
    const begun = { historyId: history_id, sizeBytes: size_bytes };
    return { id: unwrap(await arrivals.begin(nameOf(params), begun)) };
  },
);

const writeArrival = route(
  "PUT /worlds/:name/arrival/:id/:part",
  { query: offsetQuery },
  async ({ server, params, query: { offset } }, context) => {
    const length = Number(context.req.header("content-length") ?? Number.NaN);
    if (!(length <= MAX.moveChunk))
      return fail(badRequest(`request body: must have a Content-Length of at most ${MAX.moveChunk} bytes`));
    const bytes = new Uint8Array(await context.req.arrayBuffer());
    const name = parseInput(part, params["part"], "part");
    const { arrivals } = requireMoves(server);
    unwrap(await arrivals.write(nameOf(params), params["id"] ?? "", name, offset, bytes));
    return { received_bytes: offset + bytes.length };
  },
);

const prepareArrival = route(
  "POST /worlds/:name/arrival/:id/prepare",
  { documentedBody: prepared },
  async ({ server, params }, context) => {
    const input = parseInput(prepared, parseJsonBody(await readBody(context, SECRETS)));
    const { arrivals } = requireMoves(server);
    const seq = unwrap(await arrivals.prepare(nameOf(params), params["id"] ?? "", input));
    return { name: nameOf(params), seq: seq ?? null };
  },
);

const completeArrival = route(
  "POST /worlds/:name/arrival/:id/complete",
  { documentedBody: moved },
  async ({ server, params }, context) => {
    const input = parseInput(moved, parseJsonBody(await readBody(context, SECRETS)));
    const { history_id: historyId, seq, secrets, parts } = input;
    const { arrivals } = requireMoves(server);
    const completed = { historyId, seq, parts, secrets };
    unwrap(await arrivals.complete(nameOf(params), params["id"] ?? "", completed));
    return { name: nameOf(params), seq };
  },
);

const settleArrival = route(
  "DELETE /worlds/:name/arrival",
  { query: strict({ history_id: historyId }) },
  async ({ server, params, query }) => ({
    arrived: unwrap(await requireMoves(server).arrivals.settle(nameOf(params), query.history_id)),
  }),
);

function nameOf(params: Readonly<Record<string, string>>): string {
  return parseInput(worldName, params["name"], "name");
}

function requireMoves({ worlds }: ControlOptions): WorldMoves {
  return (
    worlds.moves ?? fail(badRequest("worlds in memory cannot be moved; start the server with standin serve"))
  );
}
