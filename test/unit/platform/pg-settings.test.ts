import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { PG_SETTINGS } from "../../../src/platform/catalog/pg-setting-values.ts";
import { applicablePgSettings, problemOfPgSetting } from "../../../src/platform/catalog/pg-settings.ts";
import { pgSettingsOf } from "../../../src/platform/catalog/sizes.ts";

test.each([
  ["work_mem", "8MB"],
  ["Work_Mem", " 64 kB "],
  ["work_mem", "64"],
  ["work_mem", "0.5GB"],
  ["work_mem", "2147483647"],
  ["statement_timeout", "1min"],
  ["statement_timeout", "0"],
  ["effective_cache_size", "8kB"],
  ["random_page_cost", "1.1"],
  ["extra_float_digits", "-15"],
  ["jit", "ON"],
  ["enable_seqscan", "false"],
  ["default_transaction_isolation", "Repeatable Read"],
])("%s can be %j", (name, value) => {
  expect(problemOfPgSetting(name, value)).toBeUndefined();
});

test.each<[string, string, RegExp]>([
  [
    "work_mem",
    "63",
    /^must be an integer from 64 to 2147483647, in units of kB or with one of B, kB, MB, GB, TB, got "63"$/,
  ],
  ["work_mem", "2147483648", /got "2147483648"/],
  ["work_mem", "64.5", /must be an integer/],
  ["work_mem", "8mb", /with one of B, kB, MB/],
  ["work_mem", "8 min", /with one of B, kB, MB/],
  ["work_mem", "", /must be an integer/],
  ["work_mem", "8MB -c fsync=off", /must be an integer/],
  ["statement_timeout", "-1", /from 0 to 2147483647, in units of ms or with one of us, ms, s, min, h, d/],
  ["geqo_seed", "1.01", /must be a number from 0 to 1,/],
  ["geqo_effort", "5kB", /must be an integer from 1 to 10,/],
  ["jit", "maybe", /must be on or off, got "maybe"/],
  ["xmlbinary", "binary", /must be one of base64, hex/],
  ["fsync", "off", /^cannot be set for a compute; .* Settable are check_function_bodies, /],
  ["search_path", "public", /cannot be set for a compute/],
  ["local_preload_libraries", "x", /cannot be set for a compute/],
  ["log_parameter_max_length_on_error", "-1", /cannot be set for a compute/],
  ["constructor", "1", /cannot be set for a compute/],
  ["max_worker_processes", "8", /must be omitted: the platform sets it from the maximum size/],
])("%s cannot be %j", (name, value, problem) => {
  expect(problemOfPgSetting(name, value)).toMatch(problem);
});

test("of stored settings, only those apply that the running Postgres accepts", () => {
  const stored = { work_mem: "8MB", transaction_timeout: "5s", fsync: "off", jit: "maybe" };
  expect(applicablePgSettings(stored, 17)).toEqual({ work_mem: "8MB", transaction_timeout: "5s" });
  expect(applicablePgSettings(stored, 16)).toEqual({ work_mem: "8MB" });
});

// D: the tables and formulas of the vendor's page "Postgres compatibility", of 2024 and of 2026.
test.each([
  ["2024", 0.25, 0.25, "65536kB", "10", undefined],
  ["2024", 0.5, 0.5, "65536kB", "11", undefined],
  ["2024", 1, 2, "68759kB", "14", undefined],
  ["2024", 10, 10, "687590kB", "30", undefined],
  ["2026", 0.25, 0.25, "65536kB", "12", "768MB"],
  ["2026", 1, 4, "68759kB", "20", "12288MB"],
  ["2026", 56, 56, "3850508kB", "124", "172032MB"],
] as const)(
  "in the profile of %s, a compute of %d to %d CU has the sizes of the platform",
  (profile, minCu, maxCu, maintenance_work_mem, max_worker_processes, effective_cache_size) => {
    expect(pgSettingsOf(PROFILES[profile], { minCu, maxCu }, {}, 17)).toEqual({
      idle_in_transaction_session_timeout: "300000",
      max_parallel_workers: "8",
      maintenance_work_mem,
      max_worker_processes,
      ...(effective_cache_size === undefined ? {} : { effective_cache_size }),
    });
  },
);

test("a chosen setting replaces that of the size", () => {
  const { maintenance_work_mem, max_worker_processes } = pgSettingsOf(
    PROFILES["2026"],
    { minCu: 1, maxCu: 1 },
    { maintenance_work_mem: "1GB", max_worker_processes: "8" },
    17,
  );
  expect({ maintenance_work_mem, max_worker_processes }).toEqual({
    maintenance_work_mem: "1GB",
    max_worker_processes: "14",
  });
});

test("the reference names each setting of the table", () => {
  const page = readFileSync("docs/reference/postgres.md", "utf8");
  const missing = Object.keys(PG_SETTINGS).filter((name) => !page.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});
