import { IndexedHeap } from "../../kernel/indexed-heap.ts";
import type { SimTime } from "../../kernel/time.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import { randomFrom } from "../../simulation/random.ts";
import type { Simulation } from "../../simulation/simulation.ts";
import type { ProjectPast } from "./account-past.ts";
import { computeFacts } from "./compute-facts.ts";
import {
  computeDeletion,
  computeExistence,
  otherOperationFacts,
  projectCreation,
  projectDeletion,
} from "./existence-facts.ts";
import type { PastOmission, RecordedFact } from "./recorded-fact.ts";

/** Events of a past that are committed together. */
const EVENTS_PER_COMMIT = 5_000;

/**
 * Adds all that an account shows to a world, in the order in which it happened. `commit` is called every few thousand
 * events. Returns what could not be added.
 */
export function recordPast(
  simulation: Simulation,
  projects: readonly ProjectPast[],
  defaultDelayS: number,
  commit: (at: SimTime) => void,
): readonly PastOmission[] {
  const omissions: PastOmission[] = [];
  const omit = (what: string, because: string) => {
    omissions.push({ what, because });
  };
  const computes = projects.flatMap((project) => project.computes);
  // At one instant, a thing is created before it is used, and deleted after that.
  const sources = [
    ...projects.map((project) => projectCreation(project, omit)),
    ...computes.map((compute) => computeExistence(compute, omit)),
    ...computes.map((compute) => computeFacts(compute, defaultDelayS, omit)),
    ...projects.map((project) => otherOperationFacts(project, omit)),
    ...computes.map((compute) => computeDeletion(compute)),
    ...projects.map((project) => projectDeletion(project)),
  ];
  const { world } = simulation;
  const random = randomFrom(world.settings.seed);
  for (const { at, eventsIn } of inOrder(sources)) {
    const events = eventsIn(world, { now: at, random, profile: profileOfWorld(world) });
    if (events.length > 0) simulation.record(events);
    if (simulation.uncommittedEvents >= EVENTS_PER_COMMIT) commit(at);
  }
  return omissions;
}

/** Merges sources, each oldest first; at one instant the earlier source comes first. */
function* inOrder(sources: readonly Iterator<RecordedFact>[]): Generator<RecordedFact> {
  if (sources.length === 0) return;
  const heap = new IndexedHeap(sources.length);
  const next: (RecordedFact | undefined)[] = [];
  const advance = (source: number) => {
    const step = sources[source]?.next();
    next[source] = step === undefined || step.done === true ? undefined : step.value;
    heap.set(source, next[source]?.at ?? Number.POSITIVE_INFINITY);
  };
  for (let source = 0; source < sources.length; source += 1) advance(source);
  for (let source = heap.first; ; source = heap.first) {
    const fact = next[source];
    if (fact === undefined) return;
    advance(source);
    yield fact;
  }
}
