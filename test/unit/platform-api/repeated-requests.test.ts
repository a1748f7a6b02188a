import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import type { Decided } from "../../../src/platform-api/http/incoming-request.ts";
import { RepeatedRequests } from "../../../src/platform-api/http/repeated-requests.ts";
import type { Answer } from "../../../src/platform-api/http/send-response.ts";

/** As many URLs as are remembered. */
const MOST_URLS = 1_000;
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
  app.get("/w/:world/:path", (context) => {
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
  decide: () => DECIDED as unknown as Decided,
  answer: () => answer,
});

test("a URL that is remembered again removes no other one", async () => {
  const server = await serverOf({
    ...answering({ status: 200, headers: {}, body: "repeated" }),
    // The framework answers, which remembers the URL again.
    decide: ({ req }) =>
      ({ ...DECIDED, result: { status: req.url.endsWith("again") ? 404 : 200 } }) as unknown as Decided,
  });
  expect(await server.get("/w/a/first")).toBe("routed");
  for (let number = 2; number < MOST_URLS; number += 1) await server.get(`/w/a/${number}`);
  expect(await server.get("/w/a/again")).toBe("routed");
  expect(await server.get("/w/a/again")).toBe("routed");
  expect(await server.get("/w/a/first")).toBe("repeated");
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
