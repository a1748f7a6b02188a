import type { DestinationPlace } from "../control-api/http/handler.ts";
import type { MoveDestination, PartSum } from "../worlds/moves/world-move.ts";
import { StoreUnavailable } from "../worlds/world-handle.ts";
import { probeServer } from "./server-probe.ts";

/** No call of a move takes longer. */
const CALL_TIMEOUT_MS = 60_000;
/** Longest answer to one call. */
const MAX_ANSWER_BYTES = 1024 ** 2;

/**
 * The control API of another server, as the destination of a world. Rejects with `StoreUnavailable` if nothing
 * responds there. The token is sent only to a server that proves that it has it.
 */
export async function httpDestination({ world, url, token }: DestinationPlace): Promise<MoveDestination> {
  const probed = await probeServer(url);
  if (probed === undefined) throw new StoreUnavailable(`to: no server responds at ${url}`);
  if (token !== undefined && !probed.hasToken(token))
    throw new StoreUnavailable(
      `control_token: the server at ${url} does not have this control token, which was therefore not sent`,
    );
  const base = `${url}/_sim/worlds/${world}`;
  const call = async <T>(method: string, path: string, body?: object | Uint8Array): Promise<T> => {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${base}/${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined || isBytes ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined
        ? {}
        : { body: isBytes ? new Blob([body as Uint8Array<ArrayBuffer>]) : JSON.stringify(body) }),
      // A server that redirects would get a world with its passwords sent elsewhere.
      redirect: "error",
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const answer = JSON.parse(await textOf(response)) as T & { message?: string };
    if (!response.ok) throw new Error(answer.message ?? `${url} responded with status ${response.status}`);
    return answer;
  };
  let arrival = "";
  return {
    url,
    async begin({ historyId, sizeBytes }) {
      const { id } = await call<{ id: string }>("POST", "arrival", {
        history_id: historyId,
        size_bytes: sizeBytes,
      });
      arrival = id;
    },
    async write(part, offset, bytes) {
      await call("PUT", `arrival/${arrival}/${part}?offset=${offset}`, bytes);
    },
    async prepare({ parts, secrets }) {
      await call("POST", `arrival/${arrival}/prepare`, { parts: parts.map(bodyOfPart), secrets });
    },
    async complete({ historyId, parts, ...moved }) {
      await call("POST", `arrival/${arrival}/complete`, {
        history_id: historyId,
        parts: parts.map(bodyOfPart),
        ...moved,
      });
    },
    async settle(historyId) {
      const query = `history_id=${encodeURIComponent(historyId)}`;
      const { arrived } = await call<{ arrived: boolean }>("DELETE", `arrival?${query}`);
      return arrived;
    },
  };
}

/** The other server may be anything that responds: an answer has a few hundred bytes. */
async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error("the answer of the other server is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function bodyOfPart({ takenAt, ...sum }: PartSum): object {
  return { ...sum, taken_at: takenAt };
}
