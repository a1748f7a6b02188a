import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../../src/app/http-server.ts";

/** What a server answers to a request with these header lines, and whether the request reached its handler. */
async function answerTo(...lines: string[]) {
  let isHandled = false;
  const server = createHttpServer(async () => {
    isHandled = true;
    return Response.json({});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(["GET /api/v2/projects HTTP/1.1", ...lines, "Connection: close", "", ""].join("\r\n"));
  const [status = ""] = (await text(socket)).split("\r\n");
  return { status, isHandled };
}

test.each([
  [["Host: localhost", "Host: evil"]],
  [["Host: localhost", "Accept: */*", "HOST: localhost"]],
  [["host: evil", "hOst:"]],
  [["Accept: */*"]],
])("a request with the headers %j gets 400, because it needs one Host", async (lines) => {
  expect(await answerTo(...lines)).toEqual({ status: "HTTP/1.1 400 Bad Request", isHandled: false });
});

test("a request with one Host is handled, whatever its spelling", async () => {
  for (const line of ["Host: localhost", "hOsT: evil"])
    expect(await answerTo(line, "X-Host: other", "Hose: other")).toEqual({
      status: "HTTP/1.1 200 OK",
      isHandled: true,
    });
});
