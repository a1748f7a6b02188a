import type { IncomingMessage } from "node:http";

/** More of the body of an error response is not read. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 300;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The object store has answered with an error. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads the error of a response: object stores describe it in XML, with a code and a message. */
export async function objectStoreError(response: IncomingMessage): Promise<ObjectStoreError> {
  const { statusCode = 0, statusMessage = "" } = response;
  const body = await readStart(response);
  const [code, message] = [elementText(body, "Code"), elementText(body, "Message")];
  const described = [code, message].filter((text) => text !== undefined).join(": ");
  return new ObjectStoreError(
    statusCode,
    `status ${statusCode}${described === "" ? ` ${statusMessage}` : `, ${described}`}`.trim(),
  );
}

async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status is known, and part of the description may have arrived.
  }
  return Buffer.concat(chunks).toString("utf8");
}

function elementText(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start < 0 || end < 0) return undefined;
  const text = xml.slice(start + name.length + 2, Math.min(end, start + MAX_TEXT_LENGTH));
  return text.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? "").trim();
}
