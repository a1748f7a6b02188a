import { behaviour, COMPUTE_ANSWERS, MODEL, rule, type Section } from "./statement.ts";

const LIFE = "scenarios/life-of-a-compute.yaml";
const MOVES = "scenarios/moves-between-branches.yaml";
const SECOND_PRIMARY = "scenarios/second-primary-refused.yaml";
const REPLICAS = "scenarios/replicas-beside-a-primary.yaml";

const DELETED = rule("compute/change-compute", "a deleted compute is gone at once, without an operation");

export const COMPUTES = {
  title: "Computes",
  scenarios: "some",
  statements: [
    {
      id: "compute-list",
      statement: "The list of computes has the computes of the project in the field endpoints.",
      evidence: "R",
      scenario: LIFE,
      tests: [
        COMPUTE_ANSWERS,
        behaviour(
          "compute/endpoint-list",
          "the list holds all computes of the project and no other, oldest first",
        ),
      ],
    },
    ...(
      [
        ["id", "an id that begins with `ep-`"],
        ["host", "the host name for connections"],
        ["project_id", "the id of its project"],
        ["branch_id", "the id of the branch that it is attached to"],
        ["region_id", "the id of its region"],
        ["type", "a type: `read_write` for a primary compute"],
        ["autoscaling_limit_min_cu", "a minimum size in compute units"],
        ["autoscaling_limit_max_cu", "a maximum size in compute units"],
        ["current_state", "a current state: init, active or idle"],
        ["settings", "settings, which are an object"],
        ["pooler_enabled", "a flag for the pooler, which is a boolean"],
        ["pooler_mode", "the pooler mode `transaction`"],
        ["disabled", "a flag disabled, which is a boolean"],
        ["passwordless_access", "a flag for access without a password, which is a boolean"],
        ["created_at", "its creation time"],
        ["updated_at", "the time of its last change"],
        ["proxy_host", "the host name of its proxy"],
      ] as const
    ).map(([field, meaning]) => ({
      id: `compute-${field.replaceAll("_", "-")}`,
      statement: `A compute has ${meaning} (\`${field}\`).`,
      evidence: "R" as const,
      tests: [COMPUTE_ANSWERS] as const,
    })),
    {
      id: "compute-pending-state",
      statement: "Answers to a creation and an update have a pending_state.",
      evidence: "R",
      scenario: LIFE,
      tests: [COMPUTE_ANSWERS],
    },
    {
      id: "compute-no-pending-state",
      statement: "Lists and answers to a deletion have no pending_state.",
      evidence: "R",
      tests: [COMPUTE_ANSWERS],
      plantedBug: "pending-state-in-lists",
    },
    {
      id: "compute-last-active",
      statement: "A compute has the time of its last activity, which is absent before the first activity.",
      evidence: "R",
      tests: [COMPUTE_ANSWERS, MODEL],
      plantedBug: "active-before-the-first-activity",
    },
    {
      id: "compute-replica-type",
      statement: "The type of a read replica is `read_only`.",
      evidence: "S",
      scenario: REPLICAS,
      tests: [MODEL],
    },
    {
      id: "compute-pooler-modes",
      statement: "No other pooler mode than `transaction` is accepted.",
      evidence: "S",
      tests: [
        behaviour("compute/endpoint-create", "a compute with %s is rejected with an error that names %s"),
      ],
    },
    {
      id: "compute-one-branch",
      statement: "A compute belongs to one project and is attached to one branch.",
      evidence: "R",
      scenario: MOVES,
      tests: [MODEL, rule("lookup", "a branch and a compute are found in their own project only")],
    },
    {
      id: "compute-create-branch",
      statement: "A new compute is created on the branch that the request names.",
      evidence: "R",
      scenario: LIFE,
      tests: [
        COMPUTE_ANSWERS,
        rule(
          "compute/compute",
          "creating a compute on an unknown branch, or in a project of another account, is refused",
        ),
      ],
    },
    {
      id: "compute-one-primary",
      statement: "A branch has at most one primary compute: the creation of a second one is rejected.",
      evidence: "R",
      scenario: SECOND_PRIMARY,
      tests: [
        rule("compute/compute", "creating a primary compute on a branch that has one is refused"),
        MODEL,
      ],
      plantedBug: "second-primary-beside-a-disabled-one",
    },
    {
      id: "compute-one-primary-move",
      statement: "A primary compute cannot be moved to a branch that has one.",
      evidence: "R",
      scenario: SECOND_PRIMARY,
      tests: [
        rule(
          "compute/change-compute",
          "moving a primary compute to a branch that has one is refused; a replica moves",
        ),
        MODEL,
      ],
      plantedBug: "second-primary-by-a-move",
    },
    {
      id: "compute-second-primary-status",
      statement: "A second primary compute is rejected with 409 and a message that public clients look for.",
      evidence: "C",
      scenario: SECOND_PRIMARY,
      tests: [behaviour("compute/one-primary", "a second primary on a branch gets 409")],
    },
    {
      id: "compute-replicas",
      statement: "A branch may have any number of read replicas in addition to its primary compute.",
      evidence: "R",
      scenario: REPLICAS,
      tests: [rule("compute/compute", "a branch may have several read replicas"), MODEL],
      plantedBug: "replica-like-a-primary",
    },
    {
      id: "compute-move",
      statement: "An update moves a compute to another branch.",
      evidence: "R",
      scenario: MOVES,
      tests: [rule("compute/change-compute", "a compute moves to another branch with a restart"), MODEL],
    },
    {
      id: "compute-delete",
      statement: "A deletion answers with the deleted compute and with no operations.",
      evidence: "R",
      scenario: LIFE,
      tests: [COMPUTE_ANSWERS, DELETED],
    },
    {
      id: "compute-delete-permanent",
      statement: "A deletion is permanent, and the branch may have another primary compute.",
      evidence: "R",
      scenario: REPLICAS,
      tests: [
        rule(
          "compute/change-compute",
          "a deleted compute does not come back, and its branch may have another primary",
        ),
        DELETED,
      ],
      plantedBug: "deletion-that-suspends",
    },
    {
      id: "compute-restart-call",
      statement: "A call restarts a compute.",
      evidence: "R",
      scenario: "scenarios/restart-drops-connections.yaml",
      tests: [rule("compute/compute-lifecycle", "a restart suspends a compute and starts it again"), MODEL],
    },
    {
      id: "compute-disabled-rejects",
      statement: "A disabled compute rejects clients, and clients cannot start it.",
      evidence: "S",
      scenario: LIFE,
      tests: [rule("compute/activity", "activity on a disabled compute is refused"), MODEL],
      plantedBug: "connection-wakes-a-disabled-compute",
    },
  ],
} satisfies Section;

export const OPERATIONS = {
  title: "Operations",
  scenarios: "some",
  statements: [
    ...(
      [
        ["id", "an id, which is a UUID"],
        ["project_id", "the id of its project"],
        ["branch_id", "the id of its branch"],
        ["endpoint_id", "the id of its compute"],
        ["action", "an action: start_compute, apply_config or suspend_compute"],
        ["status", "a status: running or scheduling when it is answered"],
        ["failures_count", "a number of failures, which is 0 when it is answered"],
        ["created_at", "its creation time"],
        ["updated_at", "the time of its last change"],
      ] as const
    ).map(([field, meaning]) => ({
      id: `operation-${field.replaceAll("_", "-")}`,
      statement: `An operation of a compute has ${meaning} (\`${field}\`).`,
      evidence: "R" as const,
      tests: [COMPUTE_ANSWERS] as const,
    })),
    {
      id: "operation-create",
      statement: "The creation of a compute answers with start_compute, which is running.",
      evidence: "R",
      scenario: LIFE,
      tests: [
        rule("compute/compute", "a new compute has the smallest size and starts at once"),
        COMPUTE_ANSWERS,
      ],
      plantedBug: "new-compute-is-not-started",
    },
    {
      id: "operation-update",
      statement:
        "An update answers with apply_config, which is running, and suspend_compute, which is scheduling.",
      evidence: "R",
      scenario: "scenarios/changes-with-clients.yaml",
      tests: [
        rule("compute/change-compute", "another size suspends an active compute, which then starts again"),
        COMPUTE_ANSWERS,
      ],
      plantedBug: "update-that-does-not-wait",
    },
    {
      id: "operation-autosuspend",
      statement: "An autosuspend is recorded as an operation suspend_compute.",
      evidence: "R",
      scenario: LIFE,
      tests: [
        rule("compute/autosuspend", "a compute is suspended exactly at the delay after its last query"),
      ],
      plantedBug: "suspend-without-an-operation",
    },
    {
      id: "operation-reactivation",
      statement: "A start by a client is recorded as an operation start_compute.",
      evidence: "R",
      scenario: LIFE,
      tests: [rule("compute/activity", "a query on an idle compute starts it and waits for the start")],
      plantedBug: "query-that-starts-nothing",
    },
    {
      id: "operation-one-start",
      statement: "Clients that arrive during a start wait for it, and do not schedule another start.",
      evidence: "A",
      scenario: "scenarios/wakes-on-a-query.yaml",
      tests: [rule("compute/activity", "a second query waits for the rest of the same start")],
      plantedBug: "start-for-each-query",
    },
    {
      id: "operation-order",
      statement: "The operations of a compute run one after another, in their order.",
      evidence: "D",
      scenario: "scenarios/changes-with-clients.yaml",
      tests: [rule("operation", "during a restart the start follows the suspend")],
    },
    {
      id: "operation-list",
      statement: "The operations of a project are listed, newest first.",
      evidence: "S",
      scenario: LIFE,
      tests: [behaviour("http/paging", "operations come newest first, and the cursor reaches all of them")],
    },
  ],
} satisfies Section;
