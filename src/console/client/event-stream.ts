import { authorization, WORLD_BASE } from "./request.ts";
import type { WorldEvent } from "./types.ts";

const RETRY_MS = 1_000;

export type StreamListener = {
  /** The stream is open; what happened before may have been missed. */
  readonly onOpen: () => void;
  readonly onEvents: (events: readonly WorldEvent[]) => void;
  /** The server is gone, or rejected the request with a status. */
  readonly onLost: (status: number | undefined) => void;
};

/**
 * Follows the events of the world, and connects again when the stream ends. A reader of the answer's body
 * instead of `EventSource`, which cannot send a control token.
 */
export function followEvents(listener: StreamListener): void {
  let last: number | undefined;
  const follow = async () => {
    const query = last === undefined ? "" : `?since=${last}`;
    const response = await fetch(`${WORLD_BASE}/_sim/events/stream${query}`, { headers: authorization() });
    if (!response.ok || response.body === null) return listener.onLost(response.status);
    listener.onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return listener.onLost(undefined);
      const messages = (rest + value).split("\n\n");
      rest = messages.pop() ?? "";
      const events = messages.flatMap((message) => parse(message) ?? []);
      if (events.length === 0) continue;
      last = events.at(-1)?.seq;
      listener.onEvents(events);
    }
  };
  const keepFollowing = async () => {
    for (;;) {
      try {
        await follow();
      } catch {
        listener.onLost(undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  };
  void keepFollowing();
}

function parse(message: string): WorldEvent | undefined {
  const data = message
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
  return data === "" ? undefined : (JSON.parse(data) as WorldEvent);
}
