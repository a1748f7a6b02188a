// A model of computes, written from the reference of the platform, and from the page of the control API where clients
// connect. It shares no code with src. Operations take no time here, so that each call is complete when it is answered.

const SECOND = 1_000;
const DEFAULT_DELAY_S = 300;
const LONGEST_DELAY_S = 7 * 24 * 3_600;
const NEVER = -1;
const POOLED_CONNECTIONS = 10_000;
const SHARED_BUFFERS_MB = 128;
const BLOCKS_PER_GB = 1024 ** 3 / 8_192;

/** The table of sizes: compute units and `max_connections`. */
const MAX_CONNECTIONS: ReadonlyMap<number, number> = new Map([
  [0.25, 112],
  [0.5, 225],
  [1, 450],
  [2, 901],
  [3, 1_351],
  [4, 1_802],
  [5, 2_253],
  [6, 2_703],
  [7, 3_154],
  [8, 3_604],
  [9, 4_000],
  [10, 4_000],
]);
const FREE_PLAN_SIZE = 0.25;

export type ComputeType = "read_write" | "read_only";
export type Plan = "free" | "paid";
type Range = { readonly min: number; readonly max: number };
export type Blocks = { readonly hits: number; readonly misses: number; readonly writes: number };
/** Settings of a compute that a caller chooses; names as in the API. */
export type Chosen = {
  readonly autoscaling_limit_min_cu?: number | undefined;
  readonly autoscaling_limit_max_cu?: number | undefined;
  readonly suspend_timeout_seconds?: number | undefined;
  readonly disabled?: boolean | undefined;
  readonly name?: string | undefined;
  readonly pooler_enabled?: boolean | undefined;
};
export type ClientWork = {
  readonly kind: "query" | "transaction" | "connect" | "disconnect";
  readonly connection?: string | undefined;
  readonly pooled?: boolean | undefined;
  readonly durationMs?: number | undefined;
  readonly blocks?: Blocks | undefined;
};
export type WorkOutcome = "served" | "started" | "disabled" | "too many connections" | "not open" | "open";

type Connection = {
  readonly pooled: boolean;
  /** `undefined`: until it is closed. */
  until: number | undefined;
  busyUntil: number;
  inTransaction: boolean;
};

export class ReferenceCompute {
  branch: string;
  min: number;
  max: number;
  delayS: number;
  disabled: boolean;
  name: string | undefined;
  poolerEnabled: boolean;
  state: "active" | "idle" = "idle";
  #startedAt = 0;
  /** End of the last activity; `undefined` before the first. In the future while a query runs. */
  #lastUse: number | undefined;
  #connections = new Map<string, Connection>();
  #anonymous = 0;
  #queries = 0;
  #cache = { hits: 0, misses: 0, writes: 0, used: 0 };

  readonly id: string;
  readonly type: ComputeType;
  readonly #createdAt: number;

  constructor(
    id: string,
    type: ComputeType,
    branch: string,
    createdAt: number,
    { min, max, delayS, disabled, name, poolerEnabled }: ReturnType<typeof resolved>,
  ) {
    [this.id, this.type, this.branch, this.#createdAt] = [id, type, branch, createdAt];
    [this.min, this.max, this.delayS] = [min, max, delayS];
    [this.disabled, this.name, this.poolerEnabled] = [disabled, name, poolerEnabled];
    if (!disabled) this.start(createdAt);
  }

  start(now: number): void {
    if (this.state === "active") return;
    this.state = "active";
    this.#startedAt = now;
  }

  /** Connections close, and the statistics are lost. */
  stop(now: number): void {
    if (this.state === "idle") return;
    for (const connection of this.#connections.values()) this.#endWork(connection, now);
    if (this.#lastUse !== undefined) this.#lastUse = Math.min(this.#lastUse, now);
    this.state = "idle";
    this.#connections.clear();
    this.#queries = 0;
    this.#cache = { hits: 0, misses: 0, writes: 0, used: 0 };
  }

  restart(now: number): void {
    this.stop(now);
    this.start(now);
  }

  /** When it suspends, if nothing else happens. */
  get deadline(): number | undefined {
    if (this.state === "idle" || this.delayS === NEVER || this.#openTransactions > 0) return undefined;
    const seconds = this.delayS === 0 ? DEFAULT_DELAY_S : this.delayS;
    return Math.max(this.#lastUse ?? 0, this.#startedAt) + seconds * SECOND;
  }

  /** The clock has reached `now`. */
  advance(now: number): void {
    const { deadline } = this;
    if (deadline !== undefined && deadline <= now) this.stop(deadline);
    for (const [id, { until }] of this.#connections)
      if (until !== undefined && until <= now) this.#connections.delete(id);
  }

  work({ kind, connection: id, pooled = false, durationMs, blocks }: ClientWork, now: number): WorkOutcome {
    if (this.disabled) return "disabled";
    const open = id === undefined ? undefined : this.#connections.get(id);
    if (kind === "disconnect") {
      if (open === undefined) return "not open";
      this.#endWork(open, now);
      this.#connections.delete(id ?? "");
      return "served";
    }
    if (kind === "connect" && open !== undefined) return "open";
    const wasIdle = this.state === "idle";
    const limit = pooled ? POOLED_CONNECTIONS : (MAX_CONNECTIONS.get(this.min) ?? 0);
    if (open === undefined && this.#count(pooled) >= limit) return "too many connections";
    this.start(now);
    const connection = open ?? { pooled, until: undefined, busyUntil: now, inTransaction: false };
    const lastsMs = kind === "connect" ? 0 : (durationMs ?? 0);
    const staysOpen = kind === "transaction" && durationMs === undefined && id !== undefined;
    if (open === undefined) {
      // A connection with a name stays open; one without lasts as long as its work, or until it is closed.
      if (id === undefined && !(kind === "connect" && durationMs === undefined))
        connection.until = now + (durationMs ?? 0);
      this.#anonymous += 1;
      if (connection.until === undefined || connection.until > now)
        this.#connections.set(id ?? `#${this.#anonymous}`, connection);
    }
    connection.busyUntil = Math.max(connection.busyUntil, now + lastsMs);
    connection.inTransaction ||= staysOpen;
    this.#lastUse = Math.max(this.#lastUse ?? 0, now + lastsMs);
    this.#queries += kind === "connect" ? 0 : 1;
    if (blocks !== undefined) this.#countBlocks(blocks);
    return wasIdle ? "started" : "served";
  }

  /** The compute in the answers of the API, by the field table of the reference. */
  endpoint(now: number) {
    const { id, branch, type, min, max, state, disabled, name, poolerEnabled } = this;
    return {
      id,
      branch_id: branch,
      type,
      autoscaling_limit_min_cu: min,
      autoscaling_limit_max_cu: max,
      suspend_timeout_seconds: this.delayS,
      current_state: state,
      pooler_enabled: poolerEnabled,
      pooler_mode: "transaction",
      passwordless_access: true,
      disabled,
      name,
      last_active: wholeSecond(this.#lastActive(now)),
      created_at: wholeSecond(this.#createdAt),
    };
  }

  /**
   * Statistics of a compute in the control API and in SQL: `SHOW max_connections`, `SHOW shared_buffers`, the cache
   * view.
   */
  statistics(now: number) {
    const { hits, misses, writes, used } = this.#cache;
    const isActive = this.state === "active";
    const { deadline } = this;
    return {
      current_size_cu: isActive ? this.min : 0,
      shared_buffers_mb: SHARED_BUFFERS_MB,
      max_connections: MAX_CONNECTIONS.get(this.min),
      max_pooled_connections: POOLED_CONNECTIONS,
      connections: { direct: this.#count(false), pooled: this.#count(true) },
      open_transactions: this.#openTransactions,
      queries: this.#queries,
      file_cache_hits: hits,
      file_cache_misses: misses,
      file_cache_writes: writes,
      file_cache_used: used,
      file_cache_hit_ratio: hits + misses === 0 ? null : (hits / (hits + misses)) * 100,
      delay_s: this.delayS === NEVER ? null : this.delayS === 0 ? DEFAULT_DELAY_S : this.delayS,
      suspend_in_ms: deadline === undefined ? null : deadline - now,
    };
  }

  #lastActive(now: number): number | undefined {
    if (this.#lastUse === undefined) return undefined;
    return this.#openTransactions > 0 ? now : Math.min(now, this.#lastUse);
  }

  get #openTransactions(): number {
    return [...this.#connections.values()].filter(({ inTransaction }) => inTransaction).length;
  }

  #count(pooled: boolean): number {
    return [...this.#connections.values()].filter((connection) => connection.pooled === pooled).length;
  }

  /** The local file cache has 80 % of the memory of the running size: 4 GB for each compute unit. */
  #countBlocks({ hits, misses, writes }: Blocks): void {
    const cache = this.#cache;
    const capacity = Math.floor(this.min * 4 * 0.8 * BLOCKS_PER_GB);
    cache.hits += hits;
    cache.misses += misses;
    cache.writes += writes;
    cache.used = Math.min(capacity, cache.used + writes);
  }

  /** Work that its connection's end cuts off counts as activity until then. */
  #endWork(connection: Connection, now: number): void {
    const isCutOff = connection.busyUntil > now && connection.busyUntil === this.#lastUse;
    if (connection.inTransaction) this.#lastUse = Math.max(this.#lastUse ?? 0, now);
    if (!isCutOff) return;
    const others = [...this.#connections.values()].filter((other) => other !== connection);
    this.#lastUse = Math.max(now, ...others.map(({ busyUntil }) => busyUntil));
  }
}

/** Answers have whole seconds. */
function wholeSecond(at: number | undefined): number | undefined {
  return at === undefined ? undefined : at - (at % SECOND);
}

/** A smallest size beyond the stored largest one raises it. */
function rangeOf(
  { autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max }: Chosen,
  stored: Range,
): Range {
  return { min: min ?? stored.min, max: max ?? Math.max(stored.max, min ?? stored.max) };
}

function resolved(chosen: Chosen, stored: Range) {
  return {
    ...rangeOf(chosen, stored),
    delayS: chosen.suspend_timeout_seconds ?? 0,
    disabled: chosen.disabled ?? false,
    name: chosen.name,
    poolerEnabled: chosen.pooler_enabled ?? false,
  };
}

/** Whether the plan allows a size range, and the table has its sizes. */
function isAllowedRange(plan: Plan, min: number, max: number): boolean {
  const isInTable = MAX_CONNECTIONS.has(min) && MAX_CONNECTIONS.has(max) && min <= max;
  return isInTable && (plan === "paid" || max === FREE_PLAN_SIZE);
}

function isAllowedDelay(plan: Plan, delayS: number | undefined): boolean {
  if (delayS === undefined || delayS === 0) return true;
  return plan === "paid" && (delayS === NEVER || (delayS > 0 && delayS <= LONGEST_DELAY_S));
}

/** The computes of one project. Answers are `ok`, or why a call is rejected. */
export class ReferenceProject {
  readonly computes = new Map<string, ReferenceCompute>();
  readonly plan: Plan;

  constructor(plan: Plan) {
    this.plan = plan;
  }

  /** Whether the call is accepted; `add` then takes the new compute by its id. */
  canCreate(type: ComputeType, branch: string, chosen: Chosen): boolean {
    const { min, max } = resolved(chosen, { min: FREE_PLAN_SIZE, max: FREE_PLAN_SIZE });
    if (type === "read_only" && this.plan === "free") return false;
    if (type === "read_write" && this.#primaryOf(branch) !== undefined) return false;
    return isAllowedRange(this.plan, min, max) && isAllowedDelay(this.plan, chosen.suspend_timeout_seconds);
  }

  add(id: string, type: ComputeType, branch: string, chosen: Chosen, now: number): void {
    const settings = resolved(chosen, { min: FREE_PLAN_SIZE, max: FREE_PLAN_SIZE });
    this.computes.set(id, new ReferenceCompute(id, type, branch, now, settings));
  }

  /** Updates a compute, unless that is rejected. */
  update(compute: ReferenceCompute, branch: string | undefined, chosen: Chosen, now: number): boolean {
    const stored = { min: compute.min, max: compute.max };
    const { min, max } = rangeOf(chosen, stored);
    const changesSize =
      chosen.autoscaling_limit_min_cu !== undefined || chosen.autoscaling_limit_max_cu !== undefined;
    const other = branch === undefined ? undefined : this.#primaryOf(branch);
    if (compute.type === "read_write" && other !== undefined && other !== compute) return false;
    if (changesSize && !isAllowedRange(this.plan, min, max)) return false;
    if (!isAllowedDelay(this.plan, chosen.suspend_timeout_seconds)) return false;
    const restarts =
      min !== stored.min ||
      max !== stored.max ||
      (branch ?? compute.branch) !== compute.branch ||
      (chosen.pooler_enabled ?? compute.poolerEnabled) !== compute.poolerEnabled;
    const wasActive = compute.state === "active";
    compute.branch = branch ?? compute.branch;
    [compute.min, compute.max] = [min, max];
    compute.delayS = chosen.suspend_timeout_seconds ?? compute.delayS;
    compute.disabled = chosen.disabled ?? compute.disabled;
    compute.name = chosen.name ?? compute.name;
    compute.poolerEnabled = chosen.pooler_enabled ?? compute.poolerEnabled;
    if (restarts || compute.disabled) compute.stop(now);
    if (restarts && wasActive && !compute.disabled) compute.start(now);
    // A shorter delay may be over already.
    compute.advance(now);
    return true;
  }

  advance(now: number): void {
    for (const compute of this.computes.values()) compute.advance(now);
  }

  /** A branch has at most one primary compute, whatever its state. */
  #primaryOf(branch: string): ReferenceCompute | undefined {
    return [...this.computes.values()].find(
      (compute) => compute.type === "read_write" && compute.branch === branch,
    );
  }
}
