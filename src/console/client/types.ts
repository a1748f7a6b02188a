// Shapes of the control API's answers that the console reads. docs/reference/control-api.md describes them.

type ClockMode = "real" | "scaled" | "manual";
export type Clock = {
  readonly now: string;
  readonly mode: ClockMode;
  readonly factor: number;
  readonly next_due: string | null;
};

type SizeRange = { readonly min_cu: number; readonly max_cu: number };
export type Account = { readonly id: string; readonly name: string; readonly plan: string };
export type Project = {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
  readonly region_id: string;
  readonly pg_version: number;
  readonly created_at: string;
  readonly deleted_at?: string;
};
type NamedOwner = { readonly name: string; readonly owner_name?: string };
export type Branch = {
  readonly id: string;
  readonly project_id: string;
  readonly parent_id?: string;
  readonly name: string;
  readonly default: boolean;
  readonly protected: boolean;
  readonly state: string;
  readonly created_at: string;
  readonly deleted_at?: string;
  readonly roles: readonly NamedOwner[];
  readonly databases: readonly NamedOwner[];
};
type ComputeState = "init" | "idle" | "active";
export type Compute = {
  readonly id: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly name?: string;
  readonly type: "read_write" | "read_only";
  readonly range: SizeRange;
  readonly suspend_timeout_seconds: number;
  readonly disabled: boolean;
  readonly phase: { readonly state: ComputeState; readonly size_cu?: number; readonly suspending?: boolean };
};
type Operation = {
  readonly id: string;
  readonly action: string;
  readonly project_id: string;
  readonly branch_id?: string;
  readonly endpoint_id?: string;
  readonly cause: string;
  readonly state: { readonly status: string; readonly started_at?: string; readonly due_at?: string };
};

/** The part of `GET /_sim/state` that the console shows. */
export type WorldState = {
  readonly seq: number;
  readonly at: string;
  readonly world: { readonly seed: number; readonly profile: string };
  readonly accounts: readonly Account[];
  readonly projects: readonly Project[];
  readonly branches: readonly Branch[];
  readonly endpoints: readonly Compute[];
  readonly operations: readonly Operation[];
};

export type ComputeStats = {
  readonly endpoint_id: string;
  readonly project_name?: string;
  readonly branch_name?: string;
  readonly current_state: ComputeState;
  readonly pending_state: string | null;
  readonly current_size_cu: number;
  readonly vcpu: number;
  readonly ram_gb: number;
  readonly max_connections: number;
  readonly connections: { readonly direct: number; readonly pooled: number };
  readonly queries: number;
  readonly cache: {
    readonly file_cache_hits: number;
    readonly file_cache_misses: number;
    readonly file_cache_used: number;
    readonly file_cache_writes: number;
    readonly file_cache_hit_ratio: number | null;
  };
  readonly autosuspend: {
    readonly delay_s: number | null;
    readonly idle_since: string | null;
    readonly suspend_at: string | null;
    readonly suspend_in_ms: number | null;
  };
};

export type Explanation = {
  readonly summary: string;
  readonly at: string;
  readonly reasons: readonly {
    readonly about: string;
    readonly text: string;
    readonly events: readonly number[];
  }[];
  readonly events: readonly WorldEvent[];
};

export type WorldEvent = {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
};

type SpanState = "starting" | "active" | "suspending" | "suspended" | "mixed";
export type TimelineSpan = {
  readonly since_ms: number;
  readonly until_ms: number;
  readonly state: SpanState;
  readonly size_cu: number;
  readonly active_share?: number;
};
export type TimelineLane = {
  readonly endpoint_id: string;
  readonly spans: readonly TimelineSpan[];
  readonly arrivals: readonly {
    readonly at_ms: number;
    readonly count: number;
    readonly waiting: number;
  }[];
};
export type Timeline = {
  readonly now: string;
  readonly from: string;
  readonly to: string;
  readonly history_begins_at: string;
  readonly point_ms: number;
  readonly endpoints: readonly TimelineLane[];
  readonly marks: readonly {
    readonly at: string;
    readonly kind: string;
    readonly endpoint_id: string | null;
    readonly name: string | null;
  }[];
  readonly operations: readonly {
    readonly id: string;
    readonly action: string;
    readonly endpoint_id: string | null;
    readonly branch_id: string | null;
    readonly since: string;
    readonly until: string | null;
    readonly status: string;
  }[];
};

export type LoggedRequest = {
  readonly number: number;
  readonly at: string;
  readonly seq: number;
  readonly method: string;
  readonly path: string;
  readonly operation_id: string | null;
  readonly status: number | null;
  readonly code?: string;
  readonly key_id: number | null;
  readonly body?: unknown;
  readonly answered?: unknown;
  readonly fault?: string;
};
export type Fault = {
  readonly name: string;
  readonly on: unknown;
  readonly when: unknown;
  readonly effect: unknown;
  readonly seen: number;
  readonly hits: number;
};
export type WorldInfo = {
  readonly name: string;
  readonly open: boolean;
  readonly now: string;
  readonly seq: number;
  readonly size_bytes: number;
};
export type Snapshot = {
  readonly name: string;
  readonly kind: string;
  readonly now: string;
  readonly seq: number;
  readonly size_bytes: number;
};
export type ApiKey = {
  readonly id: number;
  readonly name: string;
  readonly account_id: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
};
export type PolicyFigures = {
  readonly policy: string;
  readonly figures: Readonly<
    Record<string, { readonly value: number | null; readonly difference: number | null }>
  >;
};
export type WhatIfAnswer = {
  readonly question: {
    readonly present_delay_s?: number;
    readonly price_per_cu_hour: number;
    readonly price_list: string;
    readonly price_plan: string;
  };
  readonly traffic: {
    readonly computes: number;
    readonly requests: number;
    readonly from: string;
    readonly to: string;
    readonly days: number;
  };
  readonly policies: readonly PolicyFigures[];
};
