import type { Client } from "pg";
import { openUri } from "./clients.ts";

/** The log ends with the position that the server has reached; no more follows after this silence. */
const SILENCE_MS = 700;

/** All files of a cluster, as a client gets them that asks for a backup. */
export async function backupOf(uri: string): Promise<Buffer> {
  const client = await replicationClient(uri);
  const data = received(client);
  await client.query("BASE_BACKUP (CHECKPOINT 'fast', MANIFEST 'no', WAL)");
  await client.end();
  return data();
}

/** All of the log that a client can still get, from the first segment on, of each timeline. */
export async function logOf(uri: string): Promise<Buffer> {
  const client = await openUri(uri);
  const { rows } = await client.query(
    "select name from pg_ls_waldir() where name ~ '^[0-9A-F]{24}' order by name",
  );
  await client.end();
  const parts: Buffer[] = [];
  for (const timeline of new Set(rows.map(({ name }) => Number.parseInt(name.slice(0, 8), 16)))) {
    // The name has the number of the segment of 1 MiB in two parts of 8 digits.
    const first = rows.find(({ name }) => Number.parseInt(name.slice(0, 8), 16) === timeline).name;
    const high = first.slice(8, 16);
    const low = (Number.parseInt(first.slice(16, 24), 16) * 1_048_576).toString(16);
    parts.push(await logFrom(uri, `${Number.parseInt(high, 16).toString(16)}/${low}`, timeline));
  }
  return Buffer.concat(parts);
}

async function logFrom(uri: string, position: string, timeline: number): Promise<Buffer> {
  const client = await replicationClient(uri);
  const data = received(client);
  let length = -1;
  // An old timeline ends by itself; the current one goes on.
  client.query(`START_REPLICATION PHYSICAL ${position} TIMELINE ${timeline}`).catch(() => undefined);
  while (data().length > length) {
    length = data().length;
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
  }
  client.end().catch(() => undefined);
  return data();
}

function replicationClient(uri: string): Promise<Client> {
  return openUri(uri, { replication: "true" });
}

/** What the server sends from now on. */
function received(client: Client): () => Buffer {
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadableStream } }).connection;
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks);
}
