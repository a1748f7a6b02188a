import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Answers with a JSON text that is made in pieces, each in a turn of the event loop of its own. An empty piece is
 * a pause. A text of one piece is sent at once.
 */
export function streamJson(pieces: Iterator<string>): Response {
  const headers = { "Content-Type": "application/json" };
  const first = pieces.next();
  if (first.done === true) return new Response("", { headers });
  const second = pieces.next();
  if (second.done === true) return new Response(first.value, { headers });
  const encoder = new TextEncoder();
  const pending = [first.value, second.value];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const piece = pending.shift() ?? nextOf(pieces);
        if (piece === undefined) return controller.close();
        if (piece !== "") controller.enqueue(encoder.encode(piece));
        await nextTurn();
        if (piece !== "") return;
      }
    },
  });
  return new Response(body, { headers });
}

function nextOf(pieces: Iterator<string>): string | undefined {
  const next = pieces.next();
  return next.done === true ? undefined : next.value;
}
