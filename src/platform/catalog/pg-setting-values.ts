/** The values of a setting of Postgres. `since`: the first major version that has it, of those of the profiles. */
export type SettingValues = { readonly since?: number } & (
  | { readonly isFlag: true }
  | { readonly oneOf: readonly string[] }
  | {
      readonly min: number;
      readonly max: number;
      /** Unit of `min`, `max`, and values without a unit. Absent if the setting is a plain number. */
      readonly unit?: BaseUnit;
      /** Whether fractions are allowed. */
      readonly isReal?: true;
    }
);

type BaseUnit = "kB" | "8kB" | "ms";

const FLAG = { isFlag: true } as const;
const HIGHEST = 2_147_483_647;
const HIGHEST_REAL = 1.79769e308;

/**
 * The settings that a compute can have in `pg_settings`. D: the platform's customers configure parameters "that have a
 * `user` context". A: of those, the API accepts the ones whose value is a flag, a choice or a number. Not in the table:
 * names of objects, which depend on the database, and settings that would weaken the administrator's sessions or the
 * log. The bounds are those that all versions of Postgres accept.
 */
export const PG_SETTINGS = {
  check_function_bodies: FLAG,
  default_transaction_deferrable: FLAG,
  default_transaction_read_only: FLAG,
  enable_async_append: FLAG,
  enable_bitmapscan: FLAG,
  enable_distinct_reordering: { ...FLAG, since: 18 },
  enable_gathermerge: FLAG,
  enable_group_by_reordering: { ...FLAG, since: 17 },
  enable_hashagg: FLAG,
  enable_hashjoin: FLAG,
  enable_incremental_sort: FLAG,
  enable_indexonlyscan: FLAG,
  enable_indexscan: FLAG,
  enable_material: FLAG,
  enable_memoize: FLAG,
  enable_mergejoin: FLAG,
  enable_nestloop: FLAG,
  enable_parallel_append: FLAG,
  enable_parallel_hash: FLAG,
  enable_partition_pruning: FLAG,
  enable_partitionwise_aggregate: FLAG,
  enable_partitionwise_join: FLAG,
  enable_presorted_aggregate: { ...FLAG, since: 16 },
  enable_self_join_elimination: { ...FLAG, since: 18 },
  enable_seqscan: FLAG,
  enable_sort: FLAG,
  enable_tidscan: FLAG,
  geqo: FLAG,
  jit: FLAG,
  jit_expressions: FLAG,
  jit_tuple_deforming: FLAG,
  parallel_leader_participation: FLAG,
  row_security: FLAG,
  synchronize_seqscans: FLAG,
  vacuum_truncate: { ...FLAG, since: 18 },
  IntervalStyle: { oneOf: ["postgres", "postgres_verbose", "sql_standard", "iso_8601"] },
  bytea_output: { oneOf: ["escape", "hex"] },
  constraint_exclusion: { oneOf: ["partition", "on", "off"] },
  default_transaction_isolation: {
    oneOf: ["serializable", "repeatable read", "read committed", "read uncommitted"],
  },
  plan_cache_mode: { oneOf: ["auto", "force_generic_plan", "force_custom_plan"] },
  synchronous_commit: { oneOf: ["local", "remote_write", "remote_apply", "on", "off"] },
  xmlbinary: { oneOf: ["base64", "hex"] },
  xmloption: { oneOf: ["content", "document"] },
  commit_siblings: { min: 0, max: 1000 },
  cpu_index_tuple_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  cpu_operator_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  cpu_tuple_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  cursor_tuple_fraction: { isReal: true, min: 0, max: 1 },
  default_statistics_target: { min: 1, max: 10000 },
  effective_cache_size: { min: 1, max: HIGHEST, unit: "8kB" },
  extra_float_digits: { min: -15, max: 3 },
  from_collapse_limit: { min: 1, max: HIGHEST },
  geqo_effort: { min: 1, max: 10 },
  geqo_generations: { min: 0, max: HIGHEST },
  geqo_pool_size: { min: 0, max: HIGHEST },
  geqo_seed: { isReal: true, min: 0, max: 1 },
  geqo_selection_bias: { isReal: true, min: 1.5, max: 2 },
  geqo_threshold: { min: 2, max: HIGHEST },
  gin_fuzzy_search_limit: { min: 0, max: HIGHEST },
  gin_pending_list_limit: { min: 64, max: HIGHEST, unit: "kB" },
  hash_mem_multiplier: { isReal: true, min: 1, max: 1000 },
  idle_in_transaction_session_timeout: { min: 0, max: HIGHEST, unit: "ms" },
  idle_session_timeout: { min: 0, max: HIGHEST, unit: "ms" },
  jit_above_cost: { isReal: true, min: -1, max: HIGHEST_REAL },
  jit_inline_above_cost: { isReal: true, min: -1, max: HIGHEST_REAL },
  jit_optimize_above_cost: { isReal: true, min: -1, max: HIGHEST_REAL },
  join_collapse_limit: { min: 1, max: HIGHEST },
  lock_timeout: { min: 0, max: HIGHEST, unit: "ms" },
  logical_decoding_work_mem: { min: 64, max: HIGHEST, unit: "kB" },
  maintenance_work_mem: { min: 1024, max: HIGHEST, unit: "kB" },
  max_parallel_maintenance_workers: { min: 0, max: 1024 },
  max_parallel_workers: { min: 0, max: 1024 },
  max_parallel_workers_per_gather: { min: 0, max: 1024 },
  min_parallel_index_scan_size: { min: 0, max: 715827882, unit: "8kB" },
  min_parallel_table_scan_size: { min: 0, max: 715827882, unit: "8kB" },
  parallel_setup_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  parallel_tuple_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  random_page_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  recursive_worktable_factor: { isReal: true, min: 0.001, max: 1000000, since: 15 },
  seq_page_cost: { isReal: true, min: 0, max: HIGHEST_REAL },
  statement_timeout: { min: 0, max: HIGHEST, unit: "ms" },
  temp_buffers: { min: 100, max: 1073741823, unit: "8kB" },
  transaction_timeout: { min: 0, max: HIGHEST, unit: "ms", since: 17 },
  vacuum_cost_delay: { isReal: true, min: 0, max: 100, unit: "ms" },
  vacuum_cost_limit: { min: 1, max: 10000 },
  vacuum_cost_page_dirty: { min: 0, max: 10000 },
  vacuum_cost_page_hit: { min: 0, max: 10000 },
  vacuum_cost_page_miss: { min: 0, max: 10000 },
  vacuum_failsafe_age: { min: 0, max: 2100000000 },
  vacuum_freeze_min_age: { min: 0, max: 1000000000 },
  vacuum_freeze_table_age: { min: 0, max: 2000000000 },
  vacuum_multixact_failsafe_age: { min: 0, max: 2100000000 },
  vacuum_multixact_freeze_min_age: { min: 0, max: 1000000000 },
  vacuum_multixact_freeze_table_age: { min: 0, max: 2000000000 },
  wal_skip_threshold: { min: 0, max: HIGHEST, unit: "kB" },
  work_mem: { min: 64, max: HIGHEST, unit: "kB" },
} as const satisfies Readonly<Record<string, SettingValues>>;
