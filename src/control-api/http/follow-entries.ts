import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { StoreUnavailable, type WorldHandle } from "../../worlds/world-handle.ts";
import type { ControlOptions } from "./handler.ts";

export const ENTRIES_PER_CHUNK = 500;
const KEEP_ALIVE_MS = 15_000;

/** A list that grows: each entry has a number. */
type GrowingList = {
  /** The number of the newest entry, once it is durable. */
  readonly head: () => number | Promise<number>;
  /** The number of the newest entry. */
  readonly newest: () => number;
  /** The stream begins after this entry. Default: the newest one. */
  readonly since: number | undefined;
  readonly subscribe: (listener: () => void) => () => void;
  /** The next entries after a number, at most `ENTRIES_PER_CHUNK`. */
  readonly read: (
    since: number,
  ) => Promise<readonly { readonly number: number; readonly name: string; readonly entry: unknown }[]>;
};

/**
 * Streams the entries of a list as server-sent events, as they become durable. A slow reader needs no buffer:
 * entries are read from the file. A reader resumes with the header `Last-Event-ID`.
 */
export function followEntries(
  context: Context,
  world: WorldHandle,
  { onBug }: Pick<ControlOptions, "onBug">,
  list: GrowingList,
) {
  const resumed = Number(context.req.header("last-event-id"));
  // A HEAD request gets no stream.
  if (context.req.method === "HEAD") return context.body(null, 200, { "Content-Type": "text/event-stream" });
  const follow = async (stream: SSEStreamingApi) => {
    const head = await list.head();
    // The last id of a reader that followed another history may be beyond this head.
    let position = Math.min(head, Number.isInteger(resumed) && resumed > 0 ? resumed : (list.since ?? head));
    let wake = () => {};
    const unsubscribe = list.subscribe(() => wake());
    stream.onAbort(() => {
      unsubscribe();
      wake();
    });
    const { id } = world.history();
    // When the history is replaced, the stream ends; a reader that reconnects follows the new one.
    while (!stream.aborted && !world.isShuttingDown && world.history().id === id) {
      const added = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // The numbers of a list that was cleared start again.
      position = Math.min(position, list.newest());
      const entries = await list.read(position);
      for (const { number, name, entry } of entries) {
        await stream.writeSSE({ id: String(number), event: name, data: JSON.stringify(entry) });
        position = number;
      }
      if (entries.length > 0) continue;
      const ping = setTimeout(() => wake(), KEEP_ALIVE_MS);
      await added;
      clearTimeout(ping);
      await stream.write(": \n\n");
    }
  };
  // A closed world ends its streams; that is not a bug.
  return streamSSE(context, follow, async (error) => {
    if (!(error instanceof StoreUnavailable)) onBug(error);
  });
}
