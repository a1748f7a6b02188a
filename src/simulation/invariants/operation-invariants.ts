import { type Invariant, violationsIn } from "./invariant.ts";

/** Invariants of operations and faults. */
export const OPERATION_INVARIANTS: readonly Invariant[] = [
  {
    // D; R: a change of its configuration runs at once, whatever else runs.
    name: "a compute runs at most one operation at a time, beside changes of its configuration",
    *violations(world) {
      const running = new Set<string>();
      yield* violationsIn(world.operations.values(), function* ({ state, endpointId, action }) {
        if (state.status !== "running" || endpointId === undefined || action === "apply_config") return;
        if (running.has(endpointId)) yield `${endpointId} has two running operations`;
        running.add(endpointId);
      });
    },
  },
  {
    name: "an unfinished operation refers to existing objects, and the first one of a project is running",
    *violations(world) {
      yield* violationsIn(world.operations.values(), function* (operation) {
        if (world.projects.get(operation.projectId) === undefined)
          yield `${operation.id} is of project ${operation.projectId}, which does not exist`;
        if (operation.branchId !== undefined && world.branches.get(operation.branchId) === undefined)
          yield `${operation.id} is on branch ${operation.branchId}, which does not exist`;
        if (operation.endpointId !== undefined && world.computes.get(operation.endpointId) === undefined)
          yield `${operation.id} is on ${operation.endpointId}, which does not exist`;
      });
      yield* violationsIn(world.projects.values(), function* (project) {
        const [first] = world.operations.by("project", project.id).values();
        if (first !== undefined && first.state.status !== "running")
          yield `project ${project.id} waits for operation ${first.id}, which is not running`;
      });
    },
  },
  {
    name: "an unfinished operation has failed at most as often as its fault allows",
    *violations(world) {
      for (const { id, failures } of world.operations.values()) {
        if (failures === undefined) continue;
        const { count, times, ends } = failures;
        if (count > times || (ends === "failed" && count === times))
          yield `${id} has failed ${count} times; its fault allows ${times}`;
      }
    },
  },
  {
    name: "a fault triggers at most as often as it matches and as its limits allow",
    *violations(world) {
      for (const { name, seen, hits, timing } of world.faults.values()) {
        const maxHits = Math.min(
          seen,
          timing.limit ?? seen,
          timing.first ?? seen,
          Math.floor(seen / (timing.every ?? 1)),
        );
        if (hits > maxHits)
          yield `fault ${name} has triggered ${hits} times; at most ${maxHits} of ${seen} matches are allowed`;
        if (seen > (timing.first ?? seen))
          yield `fault ${name} has matched ${seen} times, but ends after the first ${timing.first}`;
      }
    },
  },
];
