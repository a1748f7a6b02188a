import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import type pg from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

const CANCEL_REQUEST = 80_877_102;
const server = await serverForTests();

/** What the server told the client when its session began. */
function keyOf(client: pg.Client): { readonly pid: number; readonly secret: number } {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
  return { pid: processID, secret: secretKey };
}

/** Sends a cancel request, and waits until the server has closed its connection, which is after the cancellation. */
async function cancel(pid: number, secret: number): Promise<void> {
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(16, 0);
  packet.writeInt32BE(CANCEL_REQUEST, 4);
  packet.writeInt32BE(pid, 8);
  packet.writeInt32BE(secret, 12);
  const socket = connectSocket(server.pgPort, "127.0.0.1");
  socket.write(packet);
  socket.resume();
  await once(socket, "close");
}

test("a cancel request needs the secret of its session", async () => {
  const { uri } = await createBranch(server);
  const client = await connect(uri);
  const other = await connect(uri);
  const { pid, secret } = keyOf(client);
  const running = client.query("select pg_sleep(600)");
  running.catch(() => undefined);
  const isRunning = async () =>
    (
      await other.query(
        "select 1 from pg_stat_activity where query ~ '^select pg_sleep' and state = 'active'",
      )
    ).rows.length === 1;
  await expect.poll(isRunning).toBe(true);
  for (const wrong of [0, secret + 1, secret ^ 1, keyOf(other).secret]) await cancel(pid, wrong);
  expect(await isRunning()).toBe(true);
  await cancel(pid, secret);
  await expect(running).rejects.toMatchObject({ code: "57014" });
});
