import * as z from "zod";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { proofOfToken } from "../../worlds/secrets.ts";
import type { HistoryInfo } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, type ControlRequest, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";

const challenge = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 hexadecimal digits");

/** Live: the process responds. Ready: the world responds too. */
export function healthRoutes(): readonly ControlApiRoute[] {
  return [getLiveness, getHealth, getReadiness];
}

const getLiveness = route(
  "GET /health/live",
  { query: strict({ challenge: challenge.optional() }) },
  ({ query, server: { version, cell, controlToken, teamTokens } }) =>
    omitUndefined({
      status: "live",
      version,
      cell,
      pid: process.pid,
      proof:
        query.challenge === undefined || controlToken === undefined
          ? undefined
          : proofOfToken(controlToken, query.challenge, process.pid),
      team_proofs:
        query.challenge === undefined || teamTokens.length === 0
          ? undefined
          : teamTokens.map(({ hash }) => proofOfToken(hash, query.challenge ?? "", process.pid)),
    }),
);

const getHealth = route("GET /health", {}, readiness);

const getReadiness = route("GET /health/ready", {}, readiness);

/** Outside a transaction, so that it also responds during a long advance and shows its progress. */
function readiness({ world, server }: ControlRequest) {
  return {
    status: "ready",
    live: true,
    ready: true,
    world: world.name,
    now: formatInstant(world.now()),
    size_bytes: world.sizeBytes(),
    history: renderHistory(world.history()),
    version: server.version,
  };
}

function renderHistory({ id, seq, forgottenSeq, upkeepFailure }: HistoryInfo) {
  return omitUndefined({ id, seq, forgotten_seq: forgottenSeq, upkeep_failure: upkeepFailure });
}
