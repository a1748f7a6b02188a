import { behaviour, MODEL, property, rule, type Section } from "./statement.ts";

const FIVE_MINUTES = "scenarios/sleeps-at-five-minutes.yaml";
const ALWAYS_ACTIVE = "scenarios/always-active.yaml";
const WAKES = "scenarios/wakes-on-a-query.yaml";
const LIFE = "scenarios/life-of-a-compute.yaml";
const CHANGES = "scenarios/changes-with-clients.yaml";
const RESTART = "scenarios/restart-drops-connections.yaml";
const NO_STATISTICS = "Scenarios do not read the statistics of a compute";

const AT_THE_DELAY = rule(
  "compute/autosuspend",
  "a compute is suspended exactly at the delay after its last query",
);
const RESTARTED = rule(
  "compute/compute-lifecycle",
  "a restart drops all connections, and the compute is active again after it",
);

export const AUTOSUSPEND = {
  title: "Autosuspend",
  scenarios: "each",
  statements: [
    {
      id: "autosuspend",
      statement:
        "A compute without activity is idle at the end of its autosuspend delay, not before and not after it.",
      evidence: "R",
      scenario: FIVE_MINUTES,
      tests: [
        AT_THE_DELAY,
        property("autosuspend", "a compute is suspended exactly at its delay after the last activity"),
        MODEL,
      ],
      plantedBug: "late-by-a-millisecond",
    },
    {
      id: "autosuspend-default",
      statement: "The default delay is 5 minutes.",
      evidence: "R",
      scenario: FIVE_MINUTES,
      tests: [AT_THE_DELAY, MODEL],
      plantedBug: "default-delay",
    },
    {
      id: "autosuspend-maximum",
      statement: "The longest delay is 7 days; a longer one is rejected.",
      evidence: "R",
      scenario: ALWAYS_ACTIVE,
      tests: [
        rule("compute/compute", "an autosuspend delay of %i seconds is allowed"),
        rule("compute/compute", "an autosuspend delay of %i seconds is refused"),
        MODEL,
      ],
      plantedBug: "longest-delay-rejected",
    },
    {
      id: "autosuspend-minimum",
      statement: "The shortest delay is 60 seconds.",
      evidence: "S",
      scenario: "scenarios/replicas-sleep-alone.yaml",
      tests: [rule("compute/compute", "an autosuspend delay of %i seconds is refused")],
    },
    {
      id: "autosuspend-disabled",
      statement: "With autosuspend disabled, a compute is always active.",
      evidence: "R",
      scenario: ALWAYS_ACTIVE,
      tests: [
        rule("compute/autosuspend", "a delay of -1 means never"),
        property("autosuspend", "a compute whose autosuspend is disabled is never suspended"),
      ],
      plantedBug: "never-is-the-default",
    },
    {
      id: "autosuspend-own",
      statement: "Each compute has its own delay.",
      evidence: "R",
      scenario: "scenarios/replicas-sleep-alone.yaml",
      tests: [rule("compute/autosuspend", "a compute has its own delay"), MODEL],
    },
    {
      id: "autosuspend-query",
      statement: "A query that runs is activity until it ends.",
      evidence: "D",
      scenario: FIVE_MINUTES,
      tests: [rule("compute/autosuspend", "the delay counts from the end of the longest query"), MODEL],
      plantedBug: "query-that-wakes-is-short",
    },
    {
      id: "autosuspend-cut-off-query",
      statement: "A query whose connection closes is activity until the connection closes.",
      evidence: "A",
      scenario: FIVE_MINUTES,
      tests: [
        rule(
          "compute/connections",
          "is the close of a connection that was busy, unless others are busy for longer",
        ),
        MODEL,
      ],
      plantedBug: "query-that-ends-early",
    },
    {
      id: "autosuspend-transaction",
      statement: "An open transaction is activity.",
      evidence: "D",
      scenario: RESTART,
      tests: [
        rule("compute/autosuspend", "an open transaction holds off the suspend until its connection closes"),
        MODEL,
      ],
      plantedBug: "suspended-in-a-transaction",
    },
    {
      id: "autosuspend-connection",
      statement: "An open idle connection does not count as activity, and a suspend closes it.",
      evidence: "D",
      scenario: FIVE_MINUTES,
      tests: [
        rule("compute/autosuspend", "an open connection without a query does not hold off the suspend"),
        MODEL,
      ],
    },
    {
      id: "autosuspend-start",
      statement: "Without activity, the delay counts from the last start.",
      evidence: "A",
      scenario: CHANGES,
      tests: [
        rule("compute/autosuspend", "without any activity the delay counts from the start, six seconds ago"),
        MODEL,
      ],
      plantedBug: "idle-before-the-start",
    },
  ],
} satisfies Section;

export const CACHE = {
  title: "Cache statistics",
  scenarios: "each",
  statements: [
    {
      id: "cache-counts",
      statement:
        "The statistics count the hits, misses and writes of the whole compute, and the blocks in its cache.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [
        rule(
          "compute/cache",
          "hits, misses and writes of the whole compute are added up since its last start",
        ),
        MODEL,
      ],
    },
    {
      id: "cache-ratio",
      statement: "The hit ratio is hits / (hits + misses) × 100.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [rule("compute/cache", "%i hits and %i misses are a hit ratio of %d percent"), MODEL],
      plantedBug: "writes-are-reads",
    },
    {
      id: "cache-no-ratio",
      statement: "Without reads there is no hit ratio.",
      evidence: "A",
      noScenario: NO_STATISTICS,
      tests: [rule("compute/cache", "without reads there is no hit ratio"), MODEL],
    },
    {
      id: "cache-since-start",
      statement: "The statistics begin with the last start of the compute.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [
        rule("compute/cache", "the reads of a query that starts a compute count after the start"),
        MODEL,
      ],
    },
    {
      id: "cache-lost",
      statement: "The statistics are lost when the compute stops.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [rule("compute/cache", "the statistics are lost when the compute stops"), MODEL],
    },
    {
      id: "cache-target",
      statement: "For a hit ratio below 99 %, a larger compute is recommended.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [
        rule("compute/cache", "a larger compute is advised for a hit ratio below 99 %, and not at 99 %"),
      ],
      plantedBug: "advice-at-the-target",
    },
    {
      id: "cache-view",
      statement:
        "An extension has the view platform_stat_file_cache with five columns: the counts and the hit ratio.",
      evidence: "R",
      noScenario: "SQL needs Postgres, and the blocks that it reads depend on the machine",
      tests: [
        {
          file: "test/postgres/cache-statistics.test.ts",
          title: "the extension has a view of the cache statistics, with the hit ratio of all reads",
        },
      ],
    },
    {
      id: "cache-platform-database",
      statement:
        "The database postgres has the view without an installation, with the figures of the whole compute.",
      evidence: "R",
      noScenario: "SQL needs Postgres, and the blocks that it reads depend on the machine",
      tests: [
        {
          file: "test/postgres/cache-statistics.test.ts",
          title: "on a manual clock, the database postgres shows the reads of the whole compute at once",
        },
      ],
    },
  ],
} satisfies Section;

export const STATES = {
  title: "States and transitions",
  scenarios: "each",
  statements: [
    {
      id: "state-init",
      statement: "A new compute is init with the pending_state active, and is active after its start.",
      evidence: "R",
      scenario: LIFE,
      tests: [
        rule("compute/compute", "a new compute has the smallest size and starts at once"),
        rule("operation", "a compute is active, with the newest release, when its start finishes"),
      ],
    },
    {
      id: "state-idle",
      statement: "A suspended compute is idle.",
      evidence: "R",
      scenario: FIVE_MINUTES,
      tests: [rule("operation", "a compute is idle when its suspend finishes"), AT_THE_DELAY, MODEL],
    },
    {
      id: "state-reactivation",
      statement:
        "Any activity of a client makes an idle compute active: a query, a transaction or a connection.",
      evidence: "R",
      scenario: WAKES,
      tests: [
        rule("compute/activity", "a query on an idle compute starts it and waits for the start"),
        MODEL,
        behaviour(
          "compute/reactivation",
          "a query starts an idle compute, which is active exactly after the start delay",
        ),
      ],
    },
    {
      id: "state-start-time",
      statement: "The start of an idle compute takes a few seconds: 3 seconds.",
      evidence: "R, A",
      scenario: LIFE,
      tests: [rule("compute/activity", "a query on an idle compute starts it and waits for the start")],
      plantedBug: "start-that-takes-no-time",
    },
    {
      id: "state-update",
      statement: "An update answers with the current state unchanged, and with the pending_state idle.",
      evidence: "R",
      scenario: CHANGES,
      tests: [
        property("reference-answers", "every answer about computes has the fields of the reference"),
        rule("compute/change-compute", "a change is stored at once, before its operations have ended"),
      ],
    },
    {
      id: "state-after-update",
      statement: "An active compute is active again after an update, and an idle compute stays idle.",
      evidence: "R, A",
      scenario: CHANGES,
      tests: [
        rule("operation", "after an update an active compute starts again by itself"),
        rule("compute/change-compute", "an idle compute is not started by another size"),
        MODEL,
      ],
    },
    {
      id: "state-any",
      statement:
        "A compute can be updated and restarted in any state, even while it is init, starting or being suspended.",
      evidence: "R, A",
      noScenario: "A scenario shows the states before and after",
      tests: [
        rule("compute/any-state", "is updated: apply_config runs, and suspend_compute waits"),
        rule("compute/any-state", "is restarted after the operations under way"),
      ],
      plantedBug: "update-refused-while-starting",
    },
    {
      id: "state-restart",
      statement: "A restarted compute is active again.",
      evidence: "R",
      scenario: RESTART,
      tests: [RESTARTED, MODEL],
      plantedBug: "restart-that-only-stops",
    },
    {
      id: "state-restart-connections",
      statement: "A restart drops all connections.",
      evidence: "R",
      scenario: RESTART,
      tests: [RESTARTED, MODEL],
      plantedBug: "connections-survive-a-restart",
    },
    {
      id: "state-console",
      statement: "The console shows a compute as Active or Idle.",
      evidence: "R",
      noScenario: "The console is a page in a browser",
      tests: [MODEL, behaviour("compute/endpoint-life", "the console's status is Active or Idle")],
    },
  ],
} satisfies Section;

export const CHANGES_OF_A_COMPUTE = {
  title: "Effects of changes",
  scenarios: "each",
  statements: [
    {
      id: "change-fixed-size",
      statement: "A new fixed size restarts the compute and drops its connections.",
      evidence: "R",
      scenario: CHANGES,
      tests: [
        rule("compute/change-compute", "a new fixed size, minimum or maximum drops the connections"),
        MODEL,
      ],
      plantedBug: "no-restart-for-a-size",
    },
    {
      id: "change-limits",
      statement: "A new minimum or maximum of autoscaling restarts the compute and drops its connections.",
      evidence: "R",
      scenario: CHANGES,
      tests: [
        rule("compute/change-compute", "a new fixed size, minimum or maximum drops the connections"),
        MODEL,
      ],
    },
    {
      id: "change-delay",
      statement: "A new autosuspend delay needs no restart, and connections stay open.",
      evidence: "R",
      scenario: CHANGES,
      tests: [rule("compute/change-compute", "a new autosuspend delay keeps the connections open"), MODEL],
      plantedBug: "restart-for-a-delay",
    },
    {
      id: "change-immediate",
      statement: "Changes take effect immediately.",
      evidence: "R",
      scenario: CHANGES,
      tests: [
        rule("compute/change-compute", "a change is stored at once, before its operations have ended"),
        property("autosuspend", "a change of the delay takes effect at once"),
      ],
      plantedBug: "change-that-is-not-stored",
    },
    {
      id: "change-release",
      statement: "A compute that is always active takes a new release only when it is restarted.",
      evidence: "R",
      noScenario: NO_STATISTICS,
      tests: [rule("operation", "a compute that is always active keeps its release until it is restarted")],
      plantedBug: "release-without-a-restart",
    },
    {
      id: "change-weekly-release",
      statement: "A release comes out every week.",
      evidence: "R, A",
      noScenario: NO_STATISTICS,
      tests: [
        rule("operation", "a compute that is always active keeps its release until it is restarted"),
        behaviour("compute/releases", "a release comes out every week, on Thursday at midnight"),
      ],
    },
  ],
} satisfies Section;
