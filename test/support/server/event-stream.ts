import { onTestFinished } from "vitest";
import type { AnsweredEvent } from "../answers/control-answers.ts";

type StreamedEvent = { readonly id: string; readonly event: string; readonly data: AnsweredEvent };

/** An open stream of server-sent events, read as a browser reads one. */
export type EventStream = {
  readonly response: Response;
  /** All events up to and including the first one that matches. */
  until(isLast: (event: StreamedEvent) => boolean): Promise<StreamedEvent[]>;
  close(): void;
};

export async function openEventStream(
  url: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const response = await fetch(url, {
    headers: { Accept: "text/event-stream", ...headers },
    signal: abort.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const next = async (): Promise<StreamedEvent> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) {
        const chunk = await reader?.read();
        if (chunk === undefined || chunk.done) throw new Error("the stream has ended");
        text += chunk.value;
        continue;
      }
      const fields = new Map(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      text = text.slice(end + 2);
      if (fields.has("data"))
        return {
          id: fields.get("id") ?? "",
          event: fields.get("event") ?? "",
          data: JSON.parse(fields.get("data") ?? ""),
        };
    }
  };
  return {
    response,
    async until(isLast) {
      const events: StreamedEvent[] = [];
      for (;;) {
        const event = await next();
        events.push(event);
        if (isLast(event)) return events;
      }
    },
    close: () => abort.abort(),
  };
}
