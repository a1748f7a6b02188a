import { authorization, WORLD_BASE } from "./request.ts";

const RETRY_MS = 1_000;

export type StreamListener<T> = {
  /** The stream is open; what happened before may have been missed. */
  readonly onOpen: () => void;
  readonly onEntries: (entries: readonly T[]) => void;
  /** Something else may have changed, such as the clock. */
  readonly onComment?: () => void;
  /** The server is gone, or rejected the request with a status. It is tried again. */
  readonly onLost: (status: number | undefined) => void;
};

/**
 * Follows a list of the world, and connects again when the stream ends. A reader of the answer's body instead
 * of `EventSource`, which cannot send a control token. Returns a function that ends it.
 */
export function followStream<T>(
  path: "/events/stream" | "/requests/stream" | "/run/stream",
  numberOf: (entry: T) => number,
  listener: StreamListener<T>,
): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  let last: number | undefined;
  const follow = async () => {
    const query = last === undefined ? "" : `?since=${last}`;
    const response = await fetch(`${WORLD_BASE}/_sim${path}${query}`, { headers: authorization(), signal });
    if (!response.ok || response.body === null) return listener.onLost(response.status);
    listener.onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return listener.onLost(undefined);
      const messages = (rest + value).split("\n\n");
      rest = messages.pop() ?? "";
      const entries = messages.flatMap((message) => parse<T>(message) ?? []);
      const newest = entries.at(-1);
      if (newest === undefined) {
        if (messages.length > 0) listener.onComment?.();
        continue;
      }
      last = numberOf(newest);
      listener.onEntries(entries);
    }
  };
  const keepFollowing = async () => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch {
        if (!signal.aborted) listener.onLost(undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  void keepFollowing();
  return () => ending.abort();
}

function parse<T>(message: string): T | undefined {
  const data = message
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
  return data === "" ? undefined : (JSON.parse(data) as T);
}
