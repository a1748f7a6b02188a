import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import type { Decided } from "../../../src/platform-api/http/incoming-request.ts";
import { RepeatedRequests } from "../../../src/platform-api/http/repeated-requests.ts";
import type { Answer } from "../../../src/platform-api/http/send-response.ts";

/** Of all URLs, as many as are remembered in any case. */
const MOST_RECENT = 500;
const DECIDED = { requestId: "r", namesRequest: false, world: undefined, result: { status: 200, body: {} } };

type Work = Parameters<RepeatedRequests["remember"]>[1];

/** A server whose first answer to a URL is "routed", and whose later ones are those of `work`. */
async function serverOf(work: Work) {
  const bugs: unknown[] = [];
  let uses = 0;
  const repeated = new RepeatedRequests({
    use: () => {
      uses += 1;
      return () => {
        uses -= 1;
      };
    },
    spell: (name) => name,
    headers: {},
    onBug: (error) => bugs.push(error),
  });
  const app = new Hono();
  app.all("/w/:world/:path", (context) => {
    repeated.remember(context, work);
    return context.text("routed");
  });
  const listener = getRequestListener(app.fetch);
  const server = createServer((incoming, outgoing) =>
    repeated.answer(incoming, outgoing, () => void listener(incoming, outgoing)),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    bugs,
    uses: () => uses,
    port,
    async get(path: string): Promise<string | undefined> {
      const headers = { Authorization: "Bearer key" };
      const sending = get({ host: "127.0.0.1", port, path, headers });
      try {
        const [response] = (await once(sending, "response")) as [IncomingMessage];
        return (await buffer(response)).toString();
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    },
  };
}

const answering = (answer: Answer): Work => ({
  readsBody: false,
  decide: () => DECIDED as unknown as Decided,
  answer: () => answer,
});

test("the URLs that were used last are remembered, and earlier ones are forgotten", async () => {
  const server = await serverOf(answering({ status: 200, headers: {}, body: "repeated" }));
  expect(await server.get("/w/a/used")).toBe("routed");
  expect(await server.get("/w/a/unused")).toBe("routed");
  for (let number = 0; number < 3 * MOST_RECENT; number += 1) {
    expect(await server.get(`/w/a/${number}`)).toBe("routed");
    if (number % (MOST_RECENT / 2) === 0) expect(await server.get("/w/a/used")).toBe("repeated");
  }
  expect(await server.get(`/w/a/${2 * MOST_RECENT + 1}`)).toBe("repeated");
  expect(await server.get("/w/a/unused")).toBe("routed");
});

test("a client that aborts in the middle of a body leaves nothing behind, and nothing is decided", async () => {
  let decided = 0;
  const server = await serverOf({
    ...answering({ status: 200, headers: {}, body: "repeated" }),
    readsBody: true,
    decide: () => {
      decided += 1;
      return DECIDED as unknown as Decided;
    },
  });
  const head = "POST /w/a/path HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer key\r\nContent-Length: 4\r\n\r\n";
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`${head}body`);
  expect(String((await once(socket, "data"))[0])).toContain("routed");
  socket.write(`${head}bo`);
  socket.write("dy");
  expect(String((await once(socket, "data"))[0])).toContain("repeated");
  socket.write(`${head}bo`, () => socket.resetAndDestroy());
  await once(socket, "close");
  const later = connect(server.port, "127.0.0.1");
  later.write(`${head}body`);
  expect(String((await once(later, "data"))[0])).toContain("repeated");
  later.destroy();
  expect([decided, server.uses(), server.bugs]).toEqual([2, 0, []]);
});

const INVALID: Answer = { status: 200, headers: { "X-Invalid": "two\nlines" }, body: "" };

test.each<[string, Work]>([
  ["a header", answering(INVALID)],
  ["a header of a later answer", { ...answering(INVALID), answer: async () => INVALID }],
  ["a decision", { ...answering(INVALID), decide: () => raise() }],
])("%s that throws ends its connection, and not the process", async (_, work) => {
  const server = await serverOf(work);
  expect(await server.get("/w/a/path")).toBe("routed");
  expect(await server.get("/w/a/path")).toBe("ECONNRESET");
  expect(server.bugs).toEqual([expect.any(Error)]);
  expect(server.uses()).toBe(0);
  expect(await server.get("/w/a/other")).toBe("routed");
});

function raise(): never {
  throw new Error("a bug");
}
