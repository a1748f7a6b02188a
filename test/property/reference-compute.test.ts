import fc from "fast-check";
import { expect, test } from "vitest";
import type { BodyOf } from "../support/answers/api-response.ts";
import type { PlatformAnswer } from "../support/answers/platform-answers.ts";
import type { computeStats } from "../support/double/compute.ts";
import { API_KEY, createDouble, type Double, START } from "../support/double/double.ts";
import {
  type Chosen,
  type ClientWork,
  type Plan,
  type ReferenceCompute,
  ReferenceProject,
} from "../support/oracle/reference-compute.ts";
import { expectHolds } from "../support/properties/properties.ts";

// Random calls over HTTP. After each, all computes have the fields, statistics, connections and deadlines of the reference model.

/** A step. Numbers select one of what exists, so that a shorter sequence stays valid. */
type Step =
  | { do: "advance"; ms: number }
  | { do: "advance to a deadline"; compute: number; offsetMs: number }
  | { do: "create branch" }
  | { do: "create compute"; branch: number; type: "read_write" | "read_only"; chosen: Chosen }
  | { do: "update compute"; compute: number; chosen: Chosen; branch: number | undefined }
  | { do: "delete compute"; compute: number }
  | { do: "start" | "suspend" | "restart"; compute: number }
  | { do: "work"; compute: number; work: ClientWork }
  | { do: "many connections"; compute: number; clients: number }
  | { do: "revoke a key" };

const HOUR = 3_600_000;
const index = fc.nat(5);
/** In the table, between its rows, and beyond it. */
const size = fc.constantFrom(undefined, undefined, 0.25, 0.25, 0.5, 1, 2, 4, 7, 8, 9, 0.3, 3.5, 11);
const chosen: fc.Arbitrary<Chosen> = fc.record(
  {
    autoscaling_limit_min_cu: size,
    autoscaling_limit_max_cu: size,
    suspend_timeout_seconds: fc.constantFrom(undefined, undefined, 0, -1, 60, 90, 604_800, 604_801, -2),
    disabled: fc.constantFrom(undefined, false, true),
    name: fc.constantFrom(undefined, "one", "two"),
    pooler_enabled: fc.constantFrom(undefined, undefined, true, false),
  },
  { requiredKeys: [] },
);
const blocks = fc.record({ hits: fc.nat(1_000), misses: fc.nat(10), writes: fc.nat(200_000) });
const work: fc.Arbitrary<ClientWork> = fc.record(
  {
    kind: fc.constantFrom(
      "query" as const,
      "query" as const,
      "transaction" as const,
      "connect" as const,
      "disconnect" as const,
      "disconnect" as const,
    ),
    connection: fc.constantFrom(undefined, "a", "a", "b"),
    pooled: fc.boolean(),
    durationMs: fc.constantFrom(undefined, 0, 1, 4_000, 400_000),
    blocks: fc.option(blocks, { nil: undefined }),
  },
  { requiredKeys: ["kind"] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 5_000, 60_000, 300_000, HOUR),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("advance to a deadline" as const),
      compute: index,
      offsetMs: fc.constantFrom(-1, 0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "create branch" }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("create compute" as const),
      branch: index,
      type: fc.constantFrom("read_write" as const, "read_write" as const, "read_only" as const),
      chosen,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("update compute" as const),
      compute: index,
      chosen,
      branch: fc.option(index, { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete compute" as const), compute: index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("start" as const, "suspend" as const, "restart" as const),
      compute: index,
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("work" as const), compute: index, work }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("many connections" as const),
      compute: index,
      clients: fc.constantFrom(111, 112, 113, 225),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: "revoke a key" }) },
);

/** The double and the model, side by side. */
class Comparison {
  now = START;
  readonly #double: Double;
  readonly #project: ReferenceProject;
  readonly #id: string;
  readonly #branches: string[];

  private constructor(double: Double, plan: Plan, id: string, branch: string) {
    this.#double = double;
    this.#project = new ReferenceProject(plan);
    this.#id = id;
    this.#branches = [branch];
  }

  static async open(double: Double, plan: Plan): Promise<Comparison> {
    const { status, body } = await double.api("POST", "/projects", { project: {} });
    expect(status).toBe(201);
    const comparison = new Comparison(double, plan, body.project.id, body.branch.id);
    // R: the default branch gets a primary compute when the project is created.
    expect(body.endpoints).toHaveLength(1);
    comparison.#project.add(body.endpoints[0].id, "read_write", body.branch.id, {}, START);
    await comparison.take({ do: "create branch" });
    return comparison;
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "advance":
        return this.#advance(step.ms);
      case "advance to a deadline": {
        const deadline = this.#pick(step.compute)?.deadline;
        const ms = deadline === undefined ? 0 : deadline + step.offsetMs - this.now;
        if (ms > 0) await this.#advance(ms);
        return;
      }
      case "create branch": {
        if (this.#branches.length > 3) return;
        const { status, body } = await this.#double.api("POST", `/projects/${this.#id}/branches`, {});
        expect(status).toBe(201);
        this.#branches.push(body.branch.id);
        return;
      }
      case "create compute":
        return this.#create(step.type, this.#branch(step.branch), step.chosen);
      case "update compute":
        return this.#update(step);
      case "work":
        return this.#work(step.compute, step.work);
      case "many connections":
        for (let client = 0; client < step.clients; client += 1)
          await this.#work(step.compute, { kind: "connect" });
        return;
      case "revoke a key":
        return this.#revoke();
      default:
        return this.#lifecycle(step);
    }
  }

  /** R: every field of the table, in the answer for one compute and in the list. */
  async check(): Promise<void> {
    const path = `/projects/${this.#id}/endpoints` as const;
    const { body: list } = await this.#double.api("GET", path);
    const expected = [...this.#project.computes.values()].map((compute) => compute.endpoint(this.now));
    expect(list.endpoints.map(fieldsOf)).toEqual(expected);
    for (const compute of this.#project.computes.values()) {
      const { body } = await this.#double.api("GET", `${path}/${compute.id}`);
      expect(fieldsOf(body.endpoint)).toEqual(compute.endpoint(this.now));
      expect(body.endpoint).not.toHaveProperty("pending_state");
      const { body: stats } = await this.#double.sim("GET", `/endpoints/${compute.id}/stats`);
      expect(statisticsOf(stats)).toEqual(compute.statistics(this.now));
    }
  }

  #pick(number: number): ReferenceCompute | undefined {
    const computes = [...this.#project.computes.values()];
    return computes[number % Math.max(1, computes.length)];
  }

  #branch(number: number): string {
    return this.#branches[number % this.#branches.length] ?? "";
  }

  async #advance(ms: number): Promise<void> {
    await this.#double.advance(`${ms}ms`);
    this.now += ms;
    this.#project.advance(this.now);
  }

  async #create(type: "read_write" | "read_only", branch: string, chosen: Chosen): Promise<void> {
    if (this.#project.computes.size > 5) return;
    const isAccepted = this.#project.canCreate(type, branch, chosen);
    const { status, body } = await this.#double.api("POST", `/projects/${this.#id}/endpoints`, {
      endpoint: { branch_id: branch, type, ...chosen },
    });
    expect(status === 201, `${status} ${JSON.stringify(body)}`).toBe(isAccepted);
    if (!isAccepted) return expect(status).toBeGreaterThanOrEqual(400);
    expect(body.endpoint.id).toMatch(/^ep-/);
    // R: a start is returned with a new compute.
    expect(body.operations.map(({ action }: { action: string }) => action)).toEqual(
      chosen.disabled === true ? [] : ["start_compute"],
    );
    this.#project.add(body.endpoint.id, type, branch, chosen, this.now);
  }

  async #update({
    compute: number,
    chosen,
    branch: at,
  }: Extract<Step, { do: "update compute" }>): Promise<void> {
    const compute = this.#pick(number);
    if (compute === undefined) return;
    const branch = at === undefined ? undefined : this.#branch(at);
    const isAccepted = this.#project.update(compute, branch, chosen, this.now);
    const { status, body } = await this.#double.api(
      "PATCH",
      `/projects/${this.#id}/endpoints/${compute.id}`,
      {
        endpoint: { ...chosen, ...(branch === undefined ? {} : { branch_id: branch }) },
      },
    );
    expect(status === 200, `${status} ${JSON.stringify(body)}`).toBe(isAccepted);
  }

  async #lifecycle(
    step: Extract<Step, { do: "delete compute" | "start" | "suspend" | "restart" }>,
  ): Promise<void> {
    const compute = this.#pick(step.compute);
    if (compute === undefined) return;
    const path = `/projects/${this.#id}/endpoints/${compute.id}`;
    if (step.do === "delete compute") {
      const { status, body } = await this.#double.api("DELETE", path);
      expect({ status, operations: body.operations }).toEqual({ status: 200, operations: [] });
      expect(body.endpoint).not.toHaveProperty("pending_state");
      this.#project.computes.delete(compute.id);
      expect((await this.#double.api("GET", path)).status).toBe(404);
      return;
    }
    const { status } = await this.#double.api("POST", `${path}/${step.do}`);
    // S: a disabled compute "cannot be enabled by a connection or a console action".
    if (compute.disabled && step.do !== "suspend") return expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBe(200);
    if (step.do === "start") compute.start(this.now);
    else if (step.do === "suspend") compute.stop(this.now);
    else compute.restart(this.now);
  }

  async #work(number: number, work: ClientWork): Promise<void> {
    const compute = this.#pick(number);
    if (compute === undefined) return;
    const { kind, connection, pooled, durationMs, blocks } = work;
    const { status, body } = await this.#double.sim("POST", "/activity", {
      endpoint_id: compute.id,
      ...{ kind, connection_id: connection, pooled, duration_ms: durationMs, blocks },
    });
    if (kind === "disconnect" && connection === undefined) return expect(status).toBe(400);
    expect(status, JSON.stringify(body)).toBe(200);
    const [{ outcome, code, woke }] = body.activities;
    const told = outcome === "refused" ? code : woke === true ? "started" : outcome;
    const expected = compute.work(work, this.now);
    expect(told).toBe(REFUSALS[expected] ?? expected);
  }

  /** R: "Revocation is immediate": every request with the key fails with 401 from then on. */
  async #revoke(): Promise<void> {
    const { body: key } = await this.#double.api("POST", "/api_keys", { key_name: "temporary" });
    expect((await this.#double.api("GET", "/projects", undefined, key.key)).status).toBe(200);
    const revoked = await this.#double.api("DELETE", `/api_keys/${key.id}`);
    expect(revoked.body).toMatchObject({ id: key.id, name: "temporary", revoked: true });
    expect((await this.#double.api("GET", "/projects", undefined, key.key)).status).toBe(401);
    expect((await this.#double.api("GET", "/projects", undefined, API_KEY)).status).toBe(200);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  disabled: "ENDPOINT_DISABLED",
  "too many connections": "TOO_MANY_CONNECTIONS",
  "not open": "CONNECTION_NOT_FOUND",
  open: "CONNECTION_EXISTS",
};

type Answer = BodyOf<PlatformAnswer<"GET", "/projects/x/endpoints/y">>["endpoint"];

/** The fields that the model has; instants in milliseconds. */
function fieldsOf(endpoint: Answer) {
  const instant = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  return {
    id: endpoint["id"],
    branch_id: endpoint["branch_id"],
    type: endpoint["type"],
    autoscaling_limit_min_cu: endpoint["autoscaling_limit_min_cu"],
    autoscaling_limit_max_cu: endpoint["autoscaling_limit_max_cu"],
    suspend_timeout_seconds: endpoint["suspend_timeout_seconds"],
    current_state: endpoint["current_state"],
    pooler_enabled: endpoint["pooler_enabled"],
    pooler_mode: endpoint["pooler_mode"],
    passwordless_access: endpoint["passwordless_access"],
    disabled: endpoint["disabled"],
    name: endpoint["name"],
    last_active: instant(endpoint["last_active"]),
    created_at: instant(endpoint["created_at"]),
  };
}

function statisticsOf({ cache, autosuspend, ...stats }: Awaited<ReturnType<typeof computeStats>>) {
  const { file_cache_hits, file_cache_misses, file_cache_writes, file_cache_used, file_cache_hit_ratio } =
    cache;
  return {
    current_size_cu: stats["current_size_cu"],
    shared_buffers_mb: stats["shared_buffers_mb"],
    max_connections: stats["max_connections"],
    max_pooled_connections: stats["max_pooled_connections"],
    connections: stats["connections"],
    open_transactions: stats["open_transactions"],
    queries: stats["queries"],
    ...{ file_cache_hits, file_cache_misses, file_cache_writes, file_cache_used, file_cache_hit_ratio },
    delay_s: autosuspend.delay_s,
    suspend_in_ms: autosuspend.suspend_in_ms,
  };
}

for (const plan of ["paid", "free"] as const) {
  test(`on the ${plan} plan, every compute is as the reference says after every call`, async () => {
    await expectHolds(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
        const double = await createDouble({ operations: "immediate", plan });
        try {
          const comparison = await Comparison.open(double, plan);
          for (const step of steps) {
            await comparison.take(step);
            await comparison.check();
          }
        } finally {
          await double.close();
        }
      }),
      plan === "paid" ? 400 : 150,
    );
  });
}
