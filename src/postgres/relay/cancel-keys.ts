import { randomInt } from "node:crypto";
import { createConnection } from "node:net";
import type { EngineAddress } from "../engine/engine.ts";
import type { RelayListener } from "./relay.ts";

const CANCEL_REQUEST = 80_877_102;
const MAX_INT32 = 2 ** 31 - 1;
const CANCEL_TIMEOUT_MS = 5_000;

/** Finds the session that works for a client. */
type FindKey = () => EngineKey | undefined;
type EngineKey = { readonly address: EngineAddress; readonly pid: number; readonly secret: Buffer };

/** The key of a client, and the body of the BackendKeyData message that contains it. */
type ClientKey = { readonly pid: number; readonly body: Buffer };

type KnownKey = {
  readonly secret: string;
  readonly find: FindKey;
  /** The work of the client that may still be held back. */
  held?: Promise<unknown>;
};

/** The keys with which clients cancel queries. Keys of engines are not unique, so clients get other keys. */
export class CancelKeys {
  readonly #keys = new Map<number, KnownKey>();

  /** Registers a client. `body` is the body of the engine's BackendKeyData message. */
  register(address: EngineAddress, body: Buffer): ClientKey {
    const engine = { address, pid: body.readInt32BE(0), secret: Buffer.from(body.subarray(4)) };
    return this.#register(() => engine);
  }

  /** Registers a client of the pooler. `session` returns the key of the session that works for it now. */
  registerPooled(session: () => number | undefined): ClientKey {
    return this.#register(() => this.#keys.get(session() ?? 0)?.find());
  }

  #register(find: FindKey): ClientKey {
    let pid = randomInt(1, MAX_INT32);
    while (this.#keys.has(pid)) pid = randomInt(1, MAX_INT32);
    const replacement = Buffer.alloc(8);
    replacement.writeInt32BE(pid, 0);
    replacement.writeInt32BE(randomInt(1, MAX_INT32), 4);
    this.#keys.set(pid, { secret: replacement.toString("hex", 4), find });
    return { pid, body: replacement };
  }

  forget(pid: number): void {
    this.#keys.delete(pid);
  }

  /**
   * Makes requests to cancel wait until the work that `beforeWork` holds back is sent. An engine that has not
   * received it is idle, and would ignore the signal.
   */
  holdingCancels(pid: number, beforeWork: RelayListener["beforeWork"]): RelayListener["beforeWork"] {
    return (messages) => {
      const mayProceed = beforeWork(messages);
      const key = this.#keys.get(pid);
      if (key !== undefined && typeof mayProceed !== "boolean") key.held = mayProceed;
      return mayProceed;
    };
  }

  /** Cancels the query of the session with this key. Other keys are ignored, as in Postgres. */
  async cancel(pid: number, secret: string): Promise<void> {
    const key = this.#keys.get(pid);
    if (key?.secret === secret) await this.cancelSession(pid);
  }

  /** Cancels the query of a session of the gateway itself. */
  async cancelSession(clientPid: number): Promise<void> {
    const known = this.#keys.get(clientPid);
    // Work that failed has ended its session.
    await known?.held?.catch(() => undefined);
    const key = known?.find();
    if (key === undefined) return;
    const { address, pid: enginePid, secret: engineSecret } = key;
    const packet = Buffer.alloc(12);
    packet.writeInt32BE(12 + engineSecret.length, 0);
    packet.writeInt32BE(CANCEL_REQUEST, 4);
    packet.writeInt32BE(enginePid, 8);
    // The engine closes the connection once it has sent the signal.
    await new Promise<void>((resolve) => {
      const socket = createConnection(address.path);
      socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
      socket.once("error", () => undefined).once("close", () => resolve());
      socket.end(Buffer.concat([packet, engineSecret]));
      socket.resume();
    });
  }
}
