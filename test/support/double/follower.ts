import type { Double } from "./double.ts";

/** Follows a world's event stream in this process, from its head on. */
export type Follower = {
  /** The data of all events received, up to and including the one with this id. */
  upTo(id: number): Promise<unknown[]>;
  stop(): Promise<void>;
};

export async function follow(double: Double): Promise<Follower> {
  const since = double.world.history().seq;
  const response = await double.fetch(new Request(`http://localhost/_sim/events/stream?since=${since}`));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const events: unknown[] = [];
  let last = since;
  let text = "";
  return {
    async upTo(id) {
      while (last < id) {
        const end = text.indexOf("\n\n");
        if (end >= 0) {
          const fields = new Map(text.slice(0, end).split("\n").map(fieldOf));
          text = text.slice(end + 2);
          if (!fields.has("data")) continue;
          events.push(JSON.parse(fields.get("data") ?? ""));
          last = Number(fields.get("id"));
          continue;
        }
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done)
          throw new Error(`the stream has ended at event ${last}, before event ${id}`);
        text += chunk.value;
      }
      return events;
    },
    async stop() {
      await reader?.cancel();
    },
  };
}

function fieldOf(line: string): [name: string, value: string] {
  return [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()];
}
