import type { ServerResponse } from "node:http";
import type { Answer } from "./send-response.ts";

/** How a server writes its answers. */
export type AnswerForm = {
  /** How the names of headers are spelled. */
  readonly spell: (name: string) => string;
  /** Headers of all answers of this server. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Writes the same bytes as the framework. */
export function writeAnswer(
  { status, headers, body }: Answer,
  outgoing: ServerResponse,
  { headers: ofServer, spell }: AnswerForm,
): void {
  const lines: string[] = [];
  for (const name in headers) lines.push(spell(name), headers[name] as string);
  for (const name in ofServer) lines.push(spell(name), ofServer[name] as string);
  if (body !== null && headers["Content-Length"] === undefined)
    lines.push("Content-Length", String(Buffer.byteLength(body)));
  outgoing.writeHead(status, lines);
  outgoing.end(body ?? undefined);
}
