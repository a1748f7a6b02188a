import fc from "fast-check";
import { expect } from "vitest";
import { type Command, command, isBusy } from "./model-command.ts";
import { isGone, maxConnections, pick } from "./platform-model.ts";

const START_DELAY_MS = { fixed: 3_000, none: 0, drawn: expect.any(Number) };
const connectionId = fc.constantFrom(undefined, undefined, "a", "b");
const durationMs = fc.constantFrom(undefined, 0, 1, 999, 4_000, 60_000, 400_000, 90_000_000);
const blocks = fc.record({ hits: fc.nat(1_000), misses: fc.nat(1_000), writes: fc.nat(2_000_000) });

/** Any activity of a client, now or scheduled. */
export const recordActivity: fc.Arbitrary<Command> = fc
  .record({
    index: fc.nat(60),
    afterMs: fc.option(fc.constantFrom(0, 1, 500, 2_000, 300_000, 299_999, 3_600_000), { nil: undefined }),
    kind: fc.constantFrom(
      "query" as const,
      "query" as const,
      "transaction" as const,
      "connect" as const,
      "disconnect" as const,
    ),
    durationMs,
    connectionId,
    pooled: fc.boolean(),
    database: fc.constantFrom(undefined, undefined, undefined, "neondb", "nowhere"),
    load: fc.constantFrom(undefined, undefined, 0, 0.225, 0.5, 1.8, 3, 50),
    blocks: fc.option(blocks, { nil: undefined }),
    queries: fc.constantFrom(undefined, 0, 7),
  })
  .map(recordActivityOf);

type Activity = {
  readonly index: number;
  readonly kind: "query" | "transaction" | "connect" | "disconnect";
  readonly pooled: boolean;
  readonly afterMs?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly connectionId?: string | undefined;
  readonly database?: string | undefined;
  readonly load?: number | undefined;
  readonly blocks?: { readonly hits: number; readonly misses: number; readonly writes: number } | undefined;
  readonly queries?: number | undefined;
};

export function recordActivityOf({
  index,
  afterMs,
  kind,
  durationMs,
  connectionId: id,
  ...rest
}: Activity): Command {
  // A disconnect names its connection.
  const connectionId = kind === "disconnect" ? (id ?? "a") : id;
  return command(
    `activity on compute ${index} after ${afterMs} ms: ${JSON.stringify({ kind, durationMs, connectionId, ...rest })}`,
    ({ endpoints }) => endpoints.length > 0,
    async (model, stage) => {
      const endpoint = pick(model.endpoints, index);
      const { project } = endpoint;
      const at = afterMs === undefined ? undefined : new Date(model.now + afterMs).toISOString();
      const named = { duration_ms: durationMs, connection_id: connectionId, at };
      const before = await stage.double().sim("GET", `/endpoints/${endpoint.id}/stats`);
      const isSettled = !(await isBusy(model, stage, project));
      const { status, body } = await stage
        .double()
        .sim("POST", "/activity", { endpoint_id: endpoint.id, kind, ...named, ...rest });
      expect(status, JSON.stringify(body)).toBe(isGone(endpoint) ? 404 : 200);
      if (status !== 200) return;
      const [result] = body.activities;
      const lastsMs = kind === "connect" || kind === "disconnect" ? 0 : (durationMs ?? 0);
      if (afterMs !== undefined && afterMs > 0) {
        expect(result.outcome).toBe("scheduled");
        model.scheduledActivities.push({ at: model.now + afterMs, durationMs: lastsMs, endpoint });
        return;
      }
      project.stirredAt = model.now;
      if (result.outcome !== "refused")
        endpoint.busyUntil = Math.max(endpoint.busyUntil, model.now + lastsMs);
      if (endpoint.disabled) expect(result).toMatchObject({ outcome: "refused", code: "ENDPOINT_DISABLED" });
      else if (rest.database === "nowhere")
        expect(result).toMatchObject({ outcome: "refused", code: "DATABASE_NOT_FOUND" });
      else if (result.outcome === "refused" || kind === "disconnect") return;
      else if (before.body.current_state === "active" && isSettled)
        expect(result).toMatchObject({ outcome: "served", woke: false, waited_ms: 0 });
      else if (isSettled)
        expect(result).toMatchObject({ woke: true, waited_ms: START_DELAY_MS[model.durations] });
    },
  );
}

/** More concurrent clients than max_connections. */
export const connectManyClients: fc.Arbitrary<Command> = fc
  .record({
    index: fc.nat(60),
    clients: fc.integer({ min: 100, max: 480 }),
    durationMs: fc.constantFrom(undefined, 5_000),
  })
  .map(({ index, clients, durationMs }) =>
    command(
      `${clients} clients connect to compute ${index} for ${durationMs ?? "any number of"} ms`,
      ({ endpoints }) => endpoints.some((endpoint) => !isGone(endpoint) && !endpoint.disabled),
      async (model, stage) => {
        const endpoint = pick(
          model.endpoints.filter((endpoint) => !isGone(endpoint) && !endpoint.disabled),
          index,
        );
        const stats = await stage.double().sim("GET", `/endpoints/${endpoint.id}/stats`);
        // Changed limits apply from the restart on.
        const changing = await isBusy(model, stage, endpoint.project);
        if (!changing) expect(stats.body.max_connections).toBe(maxConnections(endpoint));
        const room = Math.max(0, stats.body.max_connections - stats.body.connections.direct);
        const one = { endpoint_id: endpoint.id, kind: "connect", duration_ms: durationMs };
        const { body } = await stage.double().sim("POST", "/activity", Array(clients).fill(one));
        const refused = body.activities.filter(
          ({ code }: { code?: string }) => code === "TOO_MANY_CONNECTIONS",
        );
        expect(refused.length).toBe(Math.max(0, clients - room));
        endpoint.project.stirredAt = model.now;
      },
    ),
  );
