import { expect, test } from "vitest";
import { PG_VERSIONS, PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { problemOfPgSetting } from "../../../src/platform/catalog/pg-settings.ts";
import {
  checkPreloadLibraries,
  preloadLibrariesFor,
} from "../../../src/platform/catalog/preload-libraries.ts";
import {
  newestPriceList,
  PRICE_LIST_DATES,
  PRICED_PLANS,
  priceListOf,
} from "../../../src/platform/catalog/price-lists.ts";
import { REGIONS } from "../../../src/platform/catalog/regions.ts";
import { releaseAt, releasedAt } from "../../../src/platform/catalog/release.ts";
import { computeResources, maxConnections, sizeForLoad } from "../../../src/platform/catalog/sizes.ts";
import { DAY, SECOND } from "../../support/rules/rules.ts";

// The table "Compute sizes" of the reference.
test.each([
  [0.25, 1, 0.8, 112],
  [0.5, 2, 1.6, 225],
  [1, 4, 3.2, 450],
  [2, 8, 6.4, 901],
  [3, 12, 9.6, 1_351],
  [4, 16, 12.8, 1_802],
  [5, 20, 16, 2_253],
  [6, 24, 19.2, 2_703],
  [7, 28, 22.4, 3_154],
  [8, 32, 25.6, 3_604],
  [9, 36, 28.8, 4_000],
  [10, 40, 32, 4_000],
])(
  "in the profile of 2024, %d CU have %d GB, a cache of %d GB and %i connections",
  (cu, ramGb, fileCacheGb, connections) => {
    const profile = PROFILES["2024"];
    expect(computeResources(profile, cu)).toEqual({ vcpu: cu, ramGb, fileCacheGb });
    expect(maxConnections(profile, { minCu: cu, maxCu: 10 })).toBe(connections);
  },
);

// 419.66 connections for each CU of the maximum, which counts up to eight times the minimum.
test.each([
  [0.25, 0.25, 104],
  [0.25, 2, 839],
  [0.25, 8, 839],
  [0.5, 16, 1_678],
  [1, 16, 3_357],
  [2, 16, 4_000],
  [56, 56, 4_000],
])("in the profile of 2026, a compute of %d to %d CU has %i connections", (minCu, maxCu, connections) => {
  expect(maxConnections(PROFILES["2026"], { minCu, maxCu })).toBe(connections);
});

test("the sizes of the profiles", () => {
  const [older, newer] = [PROFILES["2024"].sizes, PROFILES["2026"].sizes];
  expect(older).toEqual({ autoscaled: [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], fixedOnly: [] });
  expect(newer.autoscaled.slice(-3)).toEqual([14, 15, 16]);
  expect([newer.fixedOnly[0], newer.fixedOnly.at(-1), newer.fixedOnly.length]).toEqual([17, 56, 40]);
});

test.each([
  ["2024", 3_000, 16, "", "sslmode=require", 14, 17],
  ["2026", 500, 17, "napi_", "sslmode=require&channel_binding=require", 14, 18],
] as const)(
  "the defaults of the profile of %s",
  (name, startMs, pgVersion, prefix, query, lowest, highest) => {
    expect(PROFILES[name]).toMatchObject({
      name,
      defaultPgVersion: pgVersion,
      apiKeyPrefix: prefix,
      connectionQuery: query,
      pgVersions: { lowest, highest },
      pooledConnections: 10_000,
      suspendTimeout: { defaultS: 300, minimumS: 60, maximumS: 604_800 },
      sharedBuffersMb: 128,
      loadReadingMs: 60 * SECOND,
      durations: {
        create_timeline: { kind: "fixed", ms: 1_000 },
        create_branch: { kind: "fixed", ms: 1_000 },
        start_compute: { kind: "fixed", ms: startMs },
        suspend_compute: { kind: "fixed", ms: 1_000 },
        apply_config: { kind: "fixed", ms: 1_000 },
        delete_timeline: { kind: "fixed", ms: 1_000 },
      },
    });
    expect(PG_VERSIONS).toEqual({ lowest: 14, highest: 18 });
  },
);

test.each([
  [0, 0.25],
  [0.225, 0.25],
  [0.226, 0.5],
  [0.9, 1],
  [0.91, 2],
  [3.6, 4],
  [3.61, 4],
  [100, 4],
])("a load of %d vCPU needs %d CU of a range up to 4", (load, cu) => {
  expect(sizeForLoad(PROFILES["2024"], { minCu: 0.25, maxCu: 4 }, load)).toBe(cu);
});

test("a load needs at least the minimum, also between two sizes", () => {
  expect(sizeForLoad(PROFILES["2024"], { minCu: 2, maxCu: 4 }, 0)).toBe(2);
});

test("releases come out each Thursday at 00:00 UTC", () => {
  const thursday = Date.UTC(2026, 0, 15);
  expect(releasedAt(releaseAt(thursday))).toBe(thursday);
  expect(releaseAt(thursday - 1)).toBe(releaseAt(thursday) - 1);
  expect(releaseAt(thursday + 7 * DAY - 1)).toBe(releaseAt(thursday));
});

test("the newest prices are those of the last announcement", () => {
  expect(PRICE_LIST_DATES).toEqual(["2025-08-14", "2025-11-03", "2026-03-20"]);
  expect(PRICED_PLANS).toEqual(["launch", "scale"]);
  expect(newestPriceList()).toEqual(priceListOf("2026-03-20"));
  expect(PRICE_LIST_DATES.map((date) => priceListOf(date).minimum)).toEqual([5, 5, 0]);
  expect(priceListOf("2026-03-20").perCuHour).toEqual(priceListOf("2025-11-03").perCuHour);
  expect(priceListOf("2025-11-03").perCuHour).toEqual({ launch: 0.106, scale: 0.222 });
  expect(priceListOf("2025-08-14").perCuHour).toEqual({ launch: 0.14, scale: 0.26 });
});

test.each([
  ["max_connections", /minimum size/],
  ["Shared_Buffers", /128MB/],
  ["wal_level", /enable_logical_replication/],
  ["shared_preload_libraries", /preload_libraries/],
  ["work_mem", undefined],
])("whether a client may set %s", (name, reason) => {
  if (reason === undefined) expect(problemOfPgSetting(name, "8MB")).toBeUndefined();
  else expect(problemOfPgSetting(name, "1")).toMatch(reason);
});

test("libraries that can be preloaded depend on the version of Postgres", () => {
  const names = (pgVersion: number) => preloadLibrariesFor({ pgVersion }).map(({ name }) => name);
  expect(names(16)).toEqual([
    "pg_stat_statements",
    "timescaledb",
    "pg_cron",
    "pg_partman_bgw",
    "pgx_ulid",
    "anon",
  ]);
  expect(names(17)).toContain("pg_search");
  const libraries = preloadLibrariesFor({ pgVersion: 17 });
  expect(libraries.filter(({ isDefault }) => isDefault).map(({ name }) => name)).toEqual(
    names(16).slice(0, 4),
  );
  expect(libraries.filter(({ isExperimental }) => isExperimental).map(({ name }) => name)).toEqual(["anon"]);
  const check = (...enabled: readonly string[]) =>
    checkPreloadLibraries({ pgVersion: 16 }, { preload_libraries: { enabled_libraries: enabled } });
  expect(check("pg_cron", "anon")).toMatchObject({ ok: true });
  expect(check("pg_cron", "pg_search")).toMatchObject({
    ok: false,
    refusal: {
      message: expect.stringMatching(
        /"pg_search" is not available for Postgres 16; available are pg_stat_statements, /,
      ),
    },
  });
  expect(checkPreloadLibraries({ pgVersion: 16 }, undefined)).toMatchObject({ ok: true });
  expect(checkPreloadLibraries({ pgVersion: 16 }, {})).toMatchObject({ ok: true });
});

test("the regions are of two clouds, and have coordinates", () => {
  expect(REGIONS.map(({ id }) => id)).toEqual([
    "aws-us-east-2",
    "aws-us-east-1",
    "aws-us-west-2",
    "aws-eu-central-1",
    "aws-eu-west-2",
    "aws-ap-southeast-1",
    "aws-ap-southeast-2",
    "aws-sa-east-1",
    "azure-eastus2",
    "azure-westus3",
    "azure-gwc",
  ]);
  for (const { id, name, latitude, longitude } of REGIONS) {
    expect(name).toMatch(id.startsWith("aws") ? /^AWS .* \(.+\)$/ : /^Azure .* \(.+\)$/);
    expect(Math.abs(Number(latitude))).toBeGreaterThan(1);
    expect(Math.abs(Number(latitude))).toBeLessThan(60);
    expect(Math.abs(Number(longitude))).toBeGreaterThanOrEqual(0.1);
    expect(Math.abs(Number(longitude))).toBeLessThan(180);
  }
});
