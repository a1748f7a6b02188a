import fc from "fast-check";
import type { Double } from "../double/double.ts";

const USAGE =
  "/consumption_history/account?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&granularity=daily";

/** Work on a world other than the creation of a key. */
export const OTHERS = {
  list: (double: Double, projectId: string) => double.api("GET", `/projects/${projectId}/operations`),
  usage: (double: Double) => double.api("GET", USAGE),
  about: (double: Double, projectId: string) => double.world.read((view) => view.eventsAbout(projectId, 5)),
  events: (double: Double) => double.world.events(0, 1_000),
  advance: (double: Double) => double.world.advance({ by: 100_000 }),
  clear: (double: Double) => double.world.clearRequests(),
  flush: (double: Double) => double.world.flush(),
  requests: (double: Double) => double.world.requests(0, 100),
  view: (double: Double) => double.world.viewAt({ seq: 5 }),
  bug: (double: Double) =>
    double.world.transact(({ execute }) => {
      execute({ type: "ResetWorld" });
      throw new Error("a bug");
    }),
} as const;

type Work = "key" | keyof typeof OTHERS;

const ALL: readonly Work[] = ["key", "key", ...(Object.keys(OTHERS) as (keyof typeof OTHERS)[])];

/** What begins in each turn of the event loop. `often`: what begins more often than other work. */
export function worldTurns(minLength: number, often: readonly Work[]) {
  const work = fc.constantFrom(...ALL, ...often);
  return fc.array(fc.array(work, { maxLength: 4 }), { minLength, maxLength: 40 });
}

/** Its own failure is expected, and has other tests. */
export async function settled(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {}
}

/** The names of the keys in the world, once all that was decided is durable. */
export async function keyNames(double: Double): Promise<ReadonlySet<string>> {
  const { body } = await double.api("GET", "/api_keys");
  return new Set((body as readonly { readonly name: string }[]).map(({ name }) => name));
}
