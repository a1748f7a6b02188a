import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { API_KEY, createDouble, createProject } from "../../support/double/double.ts";

/** As Go's servers spell them, and Node its own ones. */
const ONE_SPELLING = /^[A-Z0-9][a-z0-9]*(-[A-Z0-9][a-z0-9]*)*$/;

async function openServer() {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const server = createHttpServer((request) => double.fetch(request));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await double.close();
  });
  const { port } = server.address() as AddressInfo;
  const namesOf = async (method: string, path: string, body?: string, headers = {}) => {
    const sent = request({
      ...{ host: "127.0.0.1", port, method, path },
      headers: { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json", ...headers },
    }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await text(response);
    return { status: response.statusCode, names: response.rawHeaders.filter((_, index) => index % 2 === 0) };
  };
  return { projectId, namesOf };
}

test("names of headers have one spelling in every answer", async () => {
  const { projectId, namesOf } = await openServer();
  const project = `/api/v2/projects/${projectId}`;
  const answers = [
    await namesOf("GET", "/api/v2/projects"),
    await namesOf("GET", project, undefined, { "Accept-Encoding": "gzip" }),
    await namesOf("HEAD", project),
    await namesOf("POST", `${project}/branches`, "{"),
    await namesOf("GET", "/api/v2/projects", undefined, { Authorization: "" }),
    await namesOf("GET", "/api/v2/projects/none"),
    await namesOf("PUT", "/api/v2/projects", "{}"),
    await namesOf("POST", `${project}/branches`, "{}"),
    await namesOf("POST", `${project}/branches`, "{}"),
    await namesOf("GET", "/_sim/clock"),
    await namesOf("GET", "/_sim/none"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([
    200, 200, 200, 400, 401, 404, 405, 201, 423, 200, 404,
  ]);
  for (const { names } of answers) {
    expect(names.filter((name) => !ONE_SPELLING.test(name))).toEqual([]);
    expect(names).toContain("Content-Type");
  }
  expect(answers[5]?.names).toEqual(
    expect.arrayContaining([
      "X-Request-Id",
      "X-Neon-Ret-Request-Id",
      "X-Standin-Code",
      "X-Standin-Hint",
      "Date",
    ]),
  );
});
