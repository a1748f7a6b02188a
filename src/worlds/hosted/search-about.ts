import { setImmediate as nextTurn } from "node:timers/promises";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Journal } from "../../simulation/journal.ts";
import { joinFound, type Part, searchWithLifecycle } from "../../simulation/search-events.ts";
import type { AboutObject, ViewAbout } from "../world-handle.ts";
import type { Advancer } from "./advancer.ts";
import type { WorldLifecycle } from "./world-lifecycle.ts";
import type { WorldTransactions } from "./world-transactions.ts";

type WorldParts = {
  readonly lifecycle: WorldLifecycle;
  readonly advancer: Advancer;
  readonly transactions: WorldTransactions;
};

/** During a search, events are added. The next search reads them; after this number of searches, the read itself does. */
const MAX_SEARCHES = 4;
/** Searching them takes no step of its own. */
const FEW_EVENTS = 1_000;

/**
 * Runs `work` in one read with the events about an object. Those that were committed before are found in steps: they do
 * not change.
 */
export async function readAbout<T>(
  { lifecycle, advancer, transactions }: WorldParts,
  object: AboutObject,
  work: (view: ViewAbout) => T,
): Promise<T> {
  const { id, limit } = object;
  let simulation = lifecycle.live?.simulation;
  let known: readonly RecordedEvent[] = [];
  let searchedTo = 0;
  for (let count = 0; count < MAX_SEARCHES; count += 1) {
    const current = lifecycle.live?.simulation;
    // The read waits until the world is there again.
    if (current === undefined) break;
    // If the world was opened again, its history may be another one.
    if (current !== simulation) [simulation, known, searchedTo] = [current, [], 0];
    const { committedSeq } = current;
    if (committedSeq - searchedTo <= FEW_EVENTS) break;
    const part = { after: searchedTo, before: committedSeq + 1 };
    const found = await searchAbout(lifecycle, current.journal, object, part, advancer);
    if (found === undefined) continue;
    known = joinFound(found, known, object);
    searchedTo = committedSeq;
  }
  return transactions.read((view) => {
    const isSame = lifecycle.requireLive().simulation === simulation;
    const [older, after] = isSame ? [known, searchedTo] : [[], 0];
    const newer = [
      ...view.eventsAbout(id, limit, "lifecycle", after),
      ...view.eventsAbout(id, limit, undefined, after),
    ];
    const bySeq = new Map(newer.map((event) => [event.seq, event]));
    const inOrder = [...bySeq.values()].sort((a, b) => b.seq - a.seq);
    return work(Object.assign(view, { found: joinFound(inOrder, older, object) }));
  });
}

/** Events about an object in a part of history, which is searched in steps. `undefined`: the journal is not in use any more. */
export async function searchAbout(
  lifecycle: WorldLifecycle,
  journal: Journal,
  { id, limit }: AboutObject,
  part: Part,
  advancer?: Advancer,
): Promise<readonly RecordedEvent[] | undefined> {
  const search = searchWithLifecycle(journal, id, part, limit);
  for (;;) {
    // A journal completes a write that is taken in steps before it reads.
    await advancer?.committing;
    if (lifecycle.live?.simulation.journal !== journal) return undefined;
    const { done, value } = lifecycle.guardRead(() => search.next());
    if (done === true) return value;
    await nextTurn();
  }
}
