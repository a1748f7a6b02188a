import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { RequestOrder } from "../../../src/app/request-order.ts";

const UPGRADE = "GET /v2 HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/** Answers `/now` while its request is handled, and others when the test ends them. Reports upgrades. */
async function openServer() {
  const order = new RequestOrder();
  const waiting: ServerResponse[] = [];
  const responses: ServerResponse[] = [];
  const upgrades: { readonly areClosed: boolean }[] = [];
  const server = createServer((incoming, outgoing) =>
    order.next(incoming, outgoing, () => {
      responses.push(outgoing);
      if (incoming.url === "/now") outgoing.end("answer");
      else waiting.push(outgoing);
    }),
  );
  server.on("upgrade", (incoming, socket: Socket) =>
    order.beforeUpgrade(incoming, () => {
      upgrades.push({ areClosed: responses.every(({ closed }) => closed) });
      socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    }),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = () => {
    const client = connect(port, "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void client.destroy());
    let text = "";
    client.on("data", (bytes) => {
      text += bytes.toString("latin1");
    });
    return { client, received: () => text };
  };
  return { waiting, upgrades, open };
}

const requestOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test("an upgrade in the bytes after a request waits until its response is sent", async () => {
  const { open, upgrades } = await openServer();
  const { client, received } = open();
  client.write(requestOf("/now") + UPGRADE);
  await once(client, "close");
  expect(received()).toMatch(/^HTTP\/1.1 200 OK[\s\S]*answerHTTP\/1.1 101 /);
  expect(upgrades).toEqual([{ areClosed: true }]);
});

test("an upgrade waits for a later response of its connection than the last one that was sent at once", async () => {
  const { open, upgrades, waiting } = await openServer();
  const { client, received } = open();
  client.write(requestOf("/now"));
  await expect.poll(received).toContain("answer");
  client.write(requestOf("/later") + UPGRADE);
  await expect.poll(() => waiting.length).toBe(1);
  expect(upgrades).toEqual([]);
  waiting[0]?.end("later");
  await once(client, "close");
  expect(received()).toMatch(/later[\s\S]*101 Switching Protocols/);
  expect(upgrades).toEqual([{ areClosed: true }]);
});

test("an upgrade waits for the response of its connection, whatever was sent to another one", async () => {
  const { open, upgrades, waiting } = await openServer();
  const [one, other] = [open(), open()];
  one.client.write(requestOf("/later") + UPGRADE);
  await expect.poll(() => waiting.length).toBe(1);
  other.client.write(requestOf("/now"));
  await expect.poll(other.received).toContain("answer");
  expect(upgrades).toEqual([]);
  waiting[0]?.end("later");
  await once(one.client, "close");
  expect(upgrades).toEqual([{ areClosed: true }]);
});
