import { createConnection, type Socket } from "node:net";
import type { EngineAddress } from "../engine/engine.ts";
import { backendKeyData, startupMessage } from "../protocol/messages.ts";
import { ConnectionClosed, PacketReader } from "../protocol/packet-reader.ts";
import type { CancelKeys } from "./cancel-keys.ts";

/** Longest message of the engine before the session begins: an error with all its fields. */
const MAX_LOGIN_BYTES = 65_536;
/** Bytes that Node reads at once. */
const READ_BYTES = 65_536;
const HEADER_BYTES = 5;

// Types of messages from the engine.
const BACKEND_KEY_DATA = 0x4b; // "K"
const ERROR_RESPONSE = 0x45; // "E"
const READY_FOR_QUERY = 0x5a; // "Z"

/** A session of the engine that is ready for queries. */
export type EngineSession = {
  readonly socket: Socket;
  /** Messages that the client receives at the beginning of its session, up to the first ReadyForQuery. */
  readonly greeting: Buffer;
  readonly cancelPid: number | undefined;
};

/** Opens sessions of engines, which trust the gateway. */
export class EngineLogins {
  readonly #cancelKeys: CancelKeys;
  /** All sockets read into it, and copy what they have read: Node would allocate as much for each read. */
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

  constructor(cancelKeys: CancelKeys) {
    this.#cancelKeys = cancelKeys;
  }

  /** If the engine rejects the session, the client receives the engine's error. */
  async logIn(address: EngineAddress, parameters: ReadonlyMap<string, string>): Promise<EngineSession> {
    const socket = this.#connect(address);
    await connected(socket);
    socket.write(startupMessage(parameters));
    return readGreeting(socket, address, this.#cancelKeys);
  }

  #connect({ path }: EngineAddress): Socket {
    const socket: Socket = createConnection({
      path,
      onread: {
        buffer: this.#readBuffer,
        callback: (bytes, buffer) => socket.push(Buffer.from(buffer.subarray(0, bytes))),
      },
    });
    return socket;
  }
}

async function connected(socket: Socket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    // Also called for errors of the session, which nobody waits for.
    socket.on("error", (error) =>
      reject(new EngineUnreachable("the engine accepts no connection", { cause: error })),
    );
    socket.once("connect", resolve);
  });
}

async function readGreeting(
  socket: Socket,
  address: EngineAddress,
  cancelKeys: CancelKeys,
): Promise<EngineSession> {
  const reader = new PacketReader(socket, MAX_LOGIN_BYTES);
  let answer: LoginAnswer;
  try {
    answer = await reader.read(parseLoginAnswer);
  } catch (error) {
    if (!(error instanceof ConnectionClosed)) throw error;
    throw new EngineUnreachable("the engine closed the connection", { cause: error });
  } finally {
    reader.release();
  }
  const { isRefused, parts, key } = answer;
  if (isRefused) {
    socket.destroy();
    throw new EngineRefused(Buffer.concat(parts));
  }
  if (key === undefined) return { socket, greeting: Buffer.concat(parts), cancelPid: undefined };
  const { pid, body } = cancelKeys.register(address, Buffer.from(key));
  const [before = body, after = body] = parts;
  return { socket, greeting: Buffer.concat([before, backendKeyData(body), after]), cancelPid: pid };
}

/** The engine was lost before the session began. */
export class EngineUnreachable extends Error {
  override readonly name = "EngineUnreachable";
}

/** The engine rejected the session; `answer` is what it sent, for the client. */
export class EngineRefused extends Error {
  override readonly name = "EngineRefused";
  readonly answer: Buffer;

  constructor(answer: Buffer) {
    super("the engine rejected the session");
    this.answer = answer;
  }
}

/** All messages of the engine until the session begins or is refused. */
type LoginAnswer = {
  readonly isRefused: boolean;
  /** The messages before and after BackendKeyData; all of them, if there is none. */
  readonly parts: readonly Buffer[];
  /** The body of BackendKeyData. */
  readonly key: Buffer | undefined;
  readonly bytes: number;
};

/** `undefined`: more bytes are needed. */
function parseLoginAnswer(data: Buffer): LoginAnswer | undefined {
  const parts: Buffer[] = [];
  let key: Buffer | undefined;
  let partBegin = 0;
  for (let begin = 0; data.length - begin >= HEADER_BYTES; ) {
    const end = begin + 1 + data.readInt32BE(begin + 1);
    if (end > data.length) return undefined;
    const type = data[begin];
    if (type === BACKEND_KEY_DATA) {
      key = data.subarray(begin + HEADER_BYTES, end);
      parts.push(data.subarray(partBegin, begin));
      partBegin = end;
    }
    begin = end;
    if (type !== ERROR_RESPONSE && type !== READY_FOR_QUERY) continue;
    parts.push(data.subarray(partBegin, end));
    return { isRefused: type === ERROR_RESPONSE, parts, key, bytes: end };
  }
  return undefined;
}
