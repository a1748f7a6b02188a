import { behaviour, MODEL, property, rule, type Section } from "./statement.ts";

const CONNECTIONS = "scenarios/sizes-set-connections.yaml";
const LOAD = "scenarios/size-follows-load.yaml";
const PLANS = "scenarios/free-plan-against-paid.yaml";
const POOLER = "scenarios/pooler-beside-direct-clients.yaml";
const NO_STATISTICS = "Scenarios do not read the statistics of a compute";

const TABLE = rule(
  "compute/sizes",
  "a compute of %d CU has %d vCPU, %d GB of RAM, a file cache of %d GB and %i connections",
);
const RAM = rule("compute/sizes", "RAM is 4 GB for each CU, the file cache has 80 % of it");

const REPLICA_SETTINGS = {
  file: "test/postgres/replicas.test.ts",
  title: "max_connections of a replica is that of its own size, smaller or larger than that of its primary",
};

export const SIZES = {
  title: "Sizes",
  scenarios: "each",
  statements: [
    ...(
      [
        [0.25, "1 GB of RAM, a local file cache of 0.8 GB and 112 connections"],
        [0.5, "2 GB of RAM, a local file cache of 1.6 GB and 225 connections"],
        [1, "4 GB of RAM, a local file cache of 3.2 GB and 450 connections"],
        [2, "8 GB of RAM, a local file cache of 6.4 GB and 901 connections"],
        [3, "12 GB of RAM, a local file cache of 9.6 GB and 1,351 connections"],
        [4, "16 GB of RAM, a local file cache of 12.8 GB and 1,802 connections"],
        [5, "20 GB of RAM, a local file cache of 16 GB and 2,253 connections"],
        [6, "24 GB of RAM, a local file cache of 19.2 GB and 2,703 connections"],
        [7, "28 GB of RAM, a local file cache of 22.4 GB and 3,154 connections"],
        [8, "32 GB of RAM, a local file cache of 25.6 GB and 3,604 connections"],
        [9, "36 GB of RAM, a local file cache of 28.8 GB and 4,000 connections"],
        [10, "40 GB of RAM, a local file cache of 32 GB and 4,000 connections"],
      ] as const
    ).map(([cu, figures]) => ({
      id: `size-${cu}`,
      statement: `A compute of ${cu} CU has ${cu} vCPU, ${figures}.`,
      evidence: "R" as const,
      scenario: CONNECTIONS,
      tests: [TABLE] as const,
      ...(cu === 6 ? { plantedBug: "one-row-of-the-table" } : {}),
    })),
    {
      id: "size-unit",
      statement: "A compute unit is 1 vCPU and 4 GB of RAM.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [RAM],
    },
    {
      id: "size-file-cache",
      statement: "The local file cache takes at most 80 % of the RAM of the compute.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [
        rule("compute/cache", "the cache holds 80 % of the RAM of the compute, and never more"),
        RAM,
        MODEL,
      ],
      plantedBug: "cache-larger-than-memory",
    },
    {
      id: "size-shared-buffers",
      statement: "The shared_buffers of a compute are 128 MB at every size, including in SQL.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [RAM, MODEL, REPLICA_SETTINGS],
    },
    {
      id: "size-allowed",
      statement: "The sizes are 0.25, 0.5 and the whole numbers from 1 to 10 CU.",
      evidence: "R",
      scenario: CONNECTIONS,
      tests: [rule("compute/sizes", "each size of the table can be a fixed size, and the bound of a range")],
    },
    {
      id: "size-not-allowed",
      statement: "A size that is not in the table is rejected.",
      evidence: "R",
      scenario: "scenarios/sizes-that-are-rejected.yaml",
      tests: [
        rule("compute/sizes", "a size that is not in the table is refused, as a minimum and as a maximum"),
        MODEL,
      ],
      plantedBug: "size-between-two-rows",
    },
    {
      id: "size-connections-minimum",
      statement: "The number of connections follows the minimum size, whatever the maximum.",
      evidence: "R",
      scenario: LOAD,
      tests: [
        rule("compute/sizes", "max_connections is that of the minimum size, whatever the maximum"),
        MODEL,
      ],
      plantedBug: "connections-of-the-largest-size",
    },
    {
      id: "size-connections-sql",
      statement: "In SQL, max_connections follows the size of the compute, including that of a read replica.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [REPLICA_SETTINGS],
    },
    {
      id: "size-connections-scaling",
      statement: "The number of connections does not grow when autoscaling scales a compute.",
      evidence: "R",
      scenario: LOAD,
      tests: [rule("compute/sizes", "max_connections does not grow when autoscaling scales the compute")],
      plantedBug: "connections-grow-with-the-load",
    },
  ],
} satisfies Section;

export const CONFIGURATIONS = {
  title: "Fixed sizes, autoscaling and plans",
  scenarios: "each",
  statements: [
    {
      id: "fixed-size",
      statement: "A compute whose minimum equals its maximum has a fixed size and does not scale.",
      evidence: "R",
      scenario: LOAD,
      tests: [
        rule("compute/autoscaling", "an idle, an unloaded, a fixed or an unknown compute is not rescaled"),
      ],
    },
    {
      id: "autoscaling",
      statement: "A compute with a minimum and a maximum scales up and down within them.",
      evidence: "R",
      scenario: LOAD,
      tests: [
        rule("compute/autoscaling", "a compute grows to its maximum and no further"),
        rule("compute/autoscaling", "after the load, a compute shrinks as the average falls"),
        property("autoscaling", "a compute's size follows its load within limits"),
      ],
    },
    {
      id: "autoscaling-order",
      statement: "The minimum is not larger than the maximum.",
      evidence: "R",
      scenario: "scenarios/sizes-that-are-rejected.yaml",
      tests: [rule("compute/compute", "the sizes %d to %d CU are refused in the profile of 2024"), MODEL],
      plantedBug: "minimum-above-the-maximum",
    },
    {
      id: "autoscaling-no-restart",
      statement: "Autoscaling neither restarts a compute nor disconnects clients.",
      evidence: "R",
      scenario: LOAD,
      tests: [rule("compute/autoscaling", "automatic scaling suspends nothing and closes no connection")],
      plantedBug: "scaling-that-disconnects",
    },
    {
      id: "free-size",
      statement: "A compute of the free plan has 0.25 CU and therefore 1 GB of RAM.",
      evidence: "R",
      scenario: PLANS,
      tests: [rule("compute/compute", "the free plan has one size"), MODEL],
    },
    {
      id: "free-no-autoscaling",
      statement: "The free plan has no larger sizes and no autoscaling.",
      evidence: "R",
      scenario: PLANS,
      tests: [
        rule("compute/compute", "the free plan has one size"),
        rule("compute/change-compute", "an update to what the plan does not offer is refused"),
      ],
      plantedBug: "large-sizes-on-the-free-plan",
    },
    {
      id: "free-no-replicas",
      statement: "The free plan has no read replicas.",
      evidence: "R",
      scenario: PLANS,
      tests: [rule("compute/compute", "the free plan has no read replicas"), MODEL],
      plantedBug: "replica-on-the-free-plan",
    },
    {
      id: "free-no-autosuspend-setting",
      statement: "On the free plan, the autosuspend delay cannot be changed or disabled.",
      evidence: "R",
      scenario: PLANS,
      tests: [rule("compute/compute", "on the free plan the autosuspend delay is the default"), MODEL],
      plantedBug: "delay-on-the-free-plan",
    },
    {
      id: "paid",
      statement: "Paid plans have all sizes, autoscaling, read replicas and the autosuspend setting.",
      evidence: "R",
      scenario: PLANS,
      tests: [MODEL, rule("compute/compute", "the sizes %d to %d CU are allowed in the profile of 2024")],
    },
  ],
} satisfies Section;

export const LIMITS = {
  title: "Limits of connections",
  scenarios: "each",
  statements: [
    {
      id: "direct-connections",
      statement: "A compute accepts as many direct connections as its size allows, and rejects the next one.",
      evidence: "R",
      scenario: CONNECTIONS,
      tests: [
        rule("compute/activity", "a compute of 0.25 CU takes 112 direct connections, and not one more"),
        MODEL,
      ],
    },
    {
      id: "pooled-connections",
      statement: "The pooler accepts 10,000 clients, and rejects the next one.",
      evidence: "R",
      noScenario: "A step for each of 10,000 clients",
      tests: [
        rule(
          "compute/activity",
          "the pooler takes 10,000 clients beside the direct connections, and not one more",
        ),
      ],
      plantedBug: "pooler-with-fewer-clients",
    },
    {
      id: "pooled-beside-direct",
      statement: "Clients of the pooler do not count as direct connections.",
      evidence: "R, A",
      scenario: POOLER,
      tests: [
        rule(
          "compute/activity",
          "the pooler takes 10,000 clients beside the direct connections, and not one more",
        ),
        MODEL,
      ],
      plantedBug: "pooled-clients-count",
    },
    {
      id: "connections-of-a-new-size",
      statement: "The number of connections of a new size applies after the restart.",
      evidence: "R",
      scenario: "scenarios/changes-with-clients.yaml",
      tests: [
        rule("compute/sizes", "a new size has its connections after the restart"),
        behaviour(
          "compute/connections",
          "a smaller compute has fewer connections after its restart, a larger one more",
        ),
      ],
    },
    {
      id: "computes-of-a-project",
      statement: "A project of the free plan has at most 20 computes.",
      evidence: "D",
      noScenario: "The limits of a plan are those of the vendor, and `world.limits` overrides them",
      tests: [rule("compute/compute", "a free project may have 20 computes, and not one more")],
    },
    {
      id: "quota",
      statement:
        "A project that has used its quota has its computes suspended, until the quota or the month changes.",
      evidence: "S",
      scenario: "scenarios/quota-suspends-computes.yaml",
      tests: [
        rule(
          "project/quota",
          "a project that reaches its quota of active time has its computes suspended at once",
        ),
        rule("project/quota", "with a new month the quota begins anew"),
        rule("project/quota", "raising the quota lets computes start again"),
      ],
    },
  ],
} satisfies Section;
