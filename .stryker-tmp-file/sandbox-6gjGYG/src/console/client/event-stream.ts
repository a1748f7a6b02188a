// @ts-nocheck
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
 * Follows a list of the world after the entry `since`, by default after the newest one, and connects again when
 * the stream ends. A reader of the answer's body instead of `EventSource`, which cannot send a control token. A
 * hidden page has no connection: browsers limit the connections of all pages to one server. Returns a function
 * that ends it.
 */
export function followStream<T>(
  path: "/events/stream" | "/requests/stream" | "/run/stream",
  numberOf: (entry: T) => number,
  listener: StreamListener<T>,
  since?: number,
): () => void {
  let isEnded = false;
  let connection = new AbortController();
  let last = since;
  const follow = async () => {
    connection = new AbortController();
    const { signal } = connection;
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
    for (;;) {
      await visible();
      if (isEnded) return;
      try {
        await follow();
      } catch {
        // The page was hidden, or needs the stream no more.
        if (connection.signal.aborted) continue;
        listener.onLost(undefined);
      }
      if (isEnded) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  const onVisibility = () => {
    if (document.visibilityState === "hidden") connection.abort();
  };
  document.addEventListener("visibilitychange", onVisibility);
  void keepFollowing();
  return () => {
    isEnded = true;
    document.removeEventListener("visibilitychange", onVisibility);
    connection.abort();
  };
}

/** Waits until the page can be seen. */
async function visible(): Promise<void> {
  while (document.visibilityState === "hidden")
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

function parse<T>(message: string): T | undefined {
  const data = message
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
  return data === "" ? undefined : (JSON.parse(data) as T);
}
