import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CancelKeys } from "../../../../src/postgres/relay/cancel-keys.ts";
import {
  EngineLogins,
  EngineRefused,
  EngineUnreachable,
} from "../../../../src/postgres/relay/engine-login.ts";
import { temporaryDirectory } from "../../../support/process/process.ts";

const message = (type: string, body: string) => {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
};
const OK = message("R", "\0\0\0\0");
const SETTING = message("S", "TimeZone\0UTC\0");
const KEY = message("K", "\0\0\0\x07\0\0\0\x08");
const READY = message("Z", "I");

/** Logs in to an engine that answers like this. */
async function logIn(answer: (socket: Socket) => void) {
  const { path, remove } = temporaryDirectory();
  const address = join(path, "engine");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(address, resolve));
  onTestFinished(() => {
    server.close();
    remove();
  });
  const session = await new EngineLogins(new CancelKeys()).logIn({ path: address }, new Map());
  onTestFinished(() => void session.socket.destroy());
  return session;
}

test("the greeting of Postgres may arrive in pieces, and has another key for the client", async () => {
  const { greeting, cancelPid } = await logIn(async (socket) => {
    for (const byte of Buffer.concat([OK, SETTING, KEY, READY])) {
      socket.write(Buffer.from([byte]));
      await sleep(1);
    }
  });
  const keyAt = OK.length + SETTING.length;
  expect(greeting.subarray(0, keyAt)).toEqual(Buffer.concat([OK, SETTING]));
  expect(greeting.subarray(keyAt + KEY.length)).toEqual(READY);
  expect(greeting.readInt32BE(keyAt + 5)).toBe(cancelPid);
  expect(cancelPid).not.toBe(7);
});

test("what Postgres sends after the greeting is left in the socket", async () => {
  const { socket, greeting } = await logIn((engine) =>
    engine.write(Buffer.concat([OK, KEY, READY, SETTING])),
  );
  expect(greeting.subarray(-READY.length)).toEqual(READY);
  expect(socket.read()).toEqual(SETTING);
});

test("a session that Postgres refuses ends with the error of Postgres, without its key", async () => {
  const error = message("E", "SFATAL\0C3D000\0\0");
  const refused = logIn((socket) => socket.write(Buffer.concat([OK, KEY, error])));
  await expect(refused).rejects.toSatisfy(
    (thrown) => thrown instanceof EngineRefused && thrown.answer.equals(Buffer.concat([OK, error])),
  );
});

test("Postgres that closes the connection during the login is unreachable", async () => {
  await expect(logIn((socket) => socket.end(OK))).rejects.toThrow(EngineUnreachable);
});
