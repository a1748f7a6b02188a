import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { EngineAddress } from "../engine/engine.ts";
import { startupMessage } from "../protocol/messages.ts";
import { ConnectionClosed, PacketReader } from "../protocol/packet-reader.ts";
import type { CancelKeys } from "./cancel-keys.ts";

/** Longest message of the engine before the session begins: an error with all its fields. */
const MAX_LOGIN_BYTES = 65_536;
/** Bytes that Node reads at once. */
const READ_BYTES = 65_536;

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
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new EngineUnreachable("the engine accepts no connection", { cause: error });
  }
  socket.on("error", () => undefined);
}

async function readGreeting(
  socket: Socket,
  address: EngineAddress,
  cancelKeys: CancelKeys,
): Promise<EngineSession> {
  const reader = new PacketReader(socket, MAX_LOGIN_BYTES);
  const greeting: Buffer[] = [];
  let cancelPid: number | undefined;
  try {
    for (;;) {
      const { type, message } = await reader.read(parseMessage);
      if (type === "K") {
        const { pid, body } = cancelKeys.register(address, message.subarray(5));
        cancelPid = pid;
        greeting.push(Buffer.concat([Buffer.from([0x4b, 0, 0, 0, 4 + body.length]), body]));
        continue;
      }
      greeting.push(Buffer.from(message));
      if (type === "E") {
        socket.destroy();
        throw new EngineRefused(Buffer.concat(greeting));
      }
      if (type === "Z") return { socket, greeting: Buffer.concat(greeting), cancelPid };
    }
  } catch (error) {
    if (cancelPid !== undefined) cancelKeys.forget(cancelPid);
    if (!(error instanceof ConnectionClosed)) throw error;
    throw new EngineUnreachable("the engine closed the connection", { cause: error });
  } finally {
    reader.release();
  }
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

function parseMessage(data: Buffer): { type: string; message: Buffer; bytes: number } | undefined {
  if (data.length < 5) return undefined;
  const bytes = 1 + data.readInt32BE(1);
  if (data.length < bytes) return undefined;
  return { type: String.fromCharCode(data[0] ?? 0), message: data.subarray(0, bytes), bytes };
}
