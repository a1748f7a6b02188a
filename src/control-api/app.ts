import { Hono } from "hono";
import * as z from "zod";
import { respondWithError } from "../http/request.ts";
import { omitUndefined } from "../kernel/omit-undefined.ts";
import { checkInvariants } from "../simulation/invariants.ts";
import { proofOfToken } from "../worlds/secrets.ts";
import type { HistoryInfo } from "../worlds/world-handle.ts";
import { onClockMoved } from "./http/clock-moves.ts";
import { EventLoopMeter } from "./http/event-loop-delay.ts";
import { ENTRIES_PER_CHUNK, followEntries } from "./http/follow-entries.ts";
import { type ControlOptions, handler, runTransaction } from "./http/handler.ts";
import { formatInstant, renderObject } from "./http/render-object.ts";
import { strict } from "./http/strict-fields.ts";
import { moveRoutes } from "./moves/move-routes.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { activityRoutes } from "./routes/activity.ts";
import { branchDataRoutes } from "./routes/branch-data.ts";
import { clockRoutes } from "./routes/clock.ts";
import { endpointRoutes } from "./routes/endpoints.ts";
import { faultRoutes } from "./routes/faults.ts";
import { historyRoutes } from "./routes/history.ts";
import { figuresOf, figuresOrNone, MAX_WORLDS_IN_METRICS, renderMetrics } from "./routes/metrics.ts";
import { organizationRoutes } from "./routes/organizations.ts";
import { requestRoutes } from "./routes/requests.ts";
import { runRoutes } from "./routes/run.ts";
import { scenarioRoutes } from "./routes/scenario.ts";
import { snapshotRoutes } from "./routes/snapshots.ts";
import { sqlRoutes } from "./routes/sql.ts";
import { timelineRoutes } from "./routes/timeline.ts";
import { advanceUntil, waitBody, waitUntil } from "./routes/wait.ts";
import { whatIfRoutes } from "./routes/whatif.ts";
import { worldCreation, worldRoutes } from "./routes/worlds.ts";

const MAX_EVENTS = 10_000;
const DEFAULT_EVENTS = 1_000;

const sequence = z
  .string()
  .regex(/^\d{1,15}$/, "must be the sequence number of an event, or 0 for the beginning")
  .transform(Number);
const eventsQuery = strict({
  since: sequence.default(0),
  limit: z
    .string()
    .regex(/^\d{1,5}$/, `must be a whole number from 1 to ${MAX_EVENTS}`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_EVENTS, `must be a whole number from 1 to ${MAX_EVENTS}`)
    .default(DEFAULT_EVENTS),
});

const challenge = z.string().regex(/^[0-9a-f]{32}$/, "must be 32 hexadecimal digits");

/**
 * The control API under `/_sim`, separate from the imitated API so that its additions are not mistaken for
 * the platform's.
 */
export function createControl(options: ControlOptions): Hono {
  const { version } = options;
  const app = new Hono();
  const loopMeter = new EventLoopMeter();
  // Fixed, but they take milliseconds to compute.
  let coverage: unknown;
  let document: object | undefined;

  // Live: the process responds. Ready: the world responds too.
  app.get(
    "/health/live",
    handler(options, { query: strict({ challenge: challenge.optional() }) }, ({ query }) =>
      omitUndefined({
        status: "live",
        version,
        cell: options.cell,
        pid: process.pid,
        proof:
          query.challenge === undefined || options.controlToken === undefined
            ? undefined
            : proofOfToken(options.controlToken, query.challenge, process.pid),
      }),
    ),
  );
  for (const path of ["/health", "/health/ready"]) {
    app.get(
      path,
      // Outside a transaction, so that it also responds during a long advance and shows its progress.
      handler(options, {}, ({ world }) => ({
        status: "ready",
        live: true,
        ready: true,
        world: world.name,
        now: formatInstant(world.now()),
        size_bytes: world.sizeBytes(),
        history: renderHistory(world.history()),
        version,
      })),
    );
  }

  app.route("/", clockRoutes(options));
  app.route("/", activityRoutes(options));
  app.route("/", endpointRoutes(options));
  app.route("/", accountRoutes(options));
  app.route("/", organizationRoutes(options));
  app.route("/", historyRoutes(options));
  app.route("/", snapshotRoutes(options));
  app.route("/", worldRoutes(options));
  app.put("/world", worldCreation(options));
  app.route("/", moveRoutes(options));
  app.route("/", faultRoutes(options));
  app.route("/", requestRoutes(options));
  app.route("/", timelineRoutes(options));
  app.route("/", branchDataRoutes(options));
  app.route("/", sqlRoutes(options));
  app.route("/", scenarioRoutes(options));
  app.route("/", runRoutes(options));
  app.route("/", whatIfRoutes(options));

  app.get(
    "/events",
    handler(options, { query: eventsQuery }, async ({ world, query }) => {
      const events = await world.events(query.since, query.limit);
      const { forgottenSeq } = world.history();
      return {
        events: events.map((event) => renderObject(event)),
        next_since: events.at(-1)?.seq ?? query.since,
        // Set when `since` is before the truncation: the list begins after this event instead.
        ...(query.since < forgottenSeq ? { forgotten_seq: forgottenSeq } : {}),
      };
    }),
  );

  app.get(
    "/events/stream",
    handler(options, { query: strict({ since: sequence.optional() }) }, ({ world, query }, context) =>
      followEntries(context, world, options, {
        head: () => runTransaction(world, (transaction) => transaction.world.seq),
        newest: () => world.history().seq,
        since: query.since,
        subscribe: (listener) => {
          const ends = [world.subscribe(listener), onClockMoved(world, listener)];
          return () => {
            for (const end of ends) end();
          };
        },
        read: async (since) =>
          (await world.events(since, ENTRIES_PER_CHUNK)).map((event) => ({
            number: event.seq,
            name: event.type,
            entry: renderObject(event),
          })),
      }),
    ),
  );

  app.get(
    "/coverage",
    handler(options, {}, () => {
      coverage ??= options.coverage();
      return coverage;
    }),
  );

  app.get(
    "/invariants",
    handler(options, {}, ({ world }) =>
      runTransaction(world, (transaction) => checkInvariants(transaction.world, transaction.now)),
    ),
  );

  app.post(
    "/wait",
    handler(options, { body: waitBody }, async ({ world, body }, context) => {
      const wait = body.advance ? advanceUntil : waitUntil;
      await wait(world, body.until, body.timeout, context.req.raw.signal);
      return { now: formatInstant(world.now()), until: body.until };
    }),
  );

  app.post(
    "/reset",
    handler(options, { body: z.strictObject({}).optional() }, ({ world }) =>
      runTransaction(world, (transaction) => {
        transaction.execute({ type: "ResetWorld" });
        return { now: formatInstant(transaction.now), seq: transaction.world.seq };
      }),
    ),
  );

  app.get(
    "/metrics",
    handler(options, {}, ({ world }, context) => {
      const own = figuresOf(world);
      const others =
        context.req.param("world") === undefined
          ? options.worlds.openWorlds().filter(({ name }) => name !== world.name)
          : [];
      const shown = others.slice(0, MAX_WORLDS_IN_METRICS - 1);
      const text = renderMetrics([own, ...shown.flatMap((other) => figuresOrNone(other))], {
        cell: options.cell,
        worlds: options.worlds.counts,
        omittedWorlds: others.length - shown.length,
        clockSteps: own.clockSteps,
        delay: loopMeter.read(),
        postgres: options.postgresFigures?.(),
        data: options.dataUsage?.(),
      });
      return context.text(text, 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
    }),
  );

  app.get(
    "/openapi.json",
    handler(options, {}, async () => {
      // Its schemas of answers are a third of all, and few servers are asked for it.
      const { controlDocument } = await import("./openapi.ts");
      document ??= controlDocument(app.routes, version);
      return document;
    }),
  );

  app.all("*", (context) => {
    const paths = [
      ...new Set(
        app.routes.filter(({ path }) => !path.includes("*")).map(({ method, path }) => `${method} ${path}`),
      ),
    ];
    return respondWithError(context, {
      status: 404,
      code: "UNKNOWN_PATH",
      message: `there is no ${context.req.method} ${context.req.path}; available under /_sim: ${paths.join(", ")}`,
    });
  });
  return app;
}

function renderHistory({ id, seq, forgottenSeq }: HistoryInfo) {
  return { id, seq, forgotten_seq: forgottenSeq };
}
