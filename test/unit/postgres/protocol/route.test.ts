import { expect, test } from "vitest";
import { ConnectionRejected } from "../../../../src/postgres/protocol/errors.ts";
import { routeOf } from "../../../../src/postgres/protocol/route.ts";

const HOST = "ep-cool-sun-123.us-east-2.aws.standin.localhost";

const route = (serverName: string | undefined, options?: string) =>
  routeOf(serverName, new Map(options === undefined ? [] : [["options", options]]));

test("the first label of the host name is the endpoint", () => {
  expect(route(HOST)).toEqual({
    endpointId: "ep-cool-sun-123",
    pooled: false,
    world: undefined,
    options: undefined,
  });
});

test("a host name with -pooler asks for the pooler", () => {
  expect(route(HOST.replace("-123.", "-123-pooler."))).toMatchObject({
    endpointId: "ep-cool-sun-123",
    pooled: true,
  });
});

test.each([
  ["endpoint=ep-x", undefined],
  ["project=ep-x", undefined],
  ["-c search_path=app endpoint=ep-x", "-c search_path=app"],
  ["endpoint=ep-x -c statement_timeout=5s", "-c statement_timeout=5s"],
])("options %j name the endpoint, and leave %j to the engine", (options, rest) => {
  expect(route(undefined, options)).toMatchObject({ endpointId: "ep-x", options: rest });
  expect(route("localhost", options)).toMatchObject({ endpointId: "ep-x", options: rest });
});

test.each([["-c standin.world=team-1 endpoint=ep-x"], ["endpoint=ep-x -cstandin.world=team-1"]])(
  "options %j name the world",
  (options) => {
    expect(route(undefined, options)).toMatchObject({
      endpointId: "ep-x",
      world: "team-1",
      options: undefined,
    });
  },
);

test("the host name can name the world", () => {
  expect(route("ep-x.us-east-2.aws.team-1.w.standin.localhost")).toMatchObject({
    endpointId: "ep-x",
    world: "team-1",
  });
});

test("host name and option may name the same endpoint, but not different ones", () => {
  expect(route(HOST, "endpoint=ep-cool-sun-123").endpointId).toBe("ep-cool-sun-123");
  expect(() => route(HOST, "endpoint=ep-other")).toThrow(
    "Inconsistent project name inferred from SNI ('ep-cool-sun-123') and project option ('ep-other').",
  );
});

test.each([[undefined], ["localhost"], ["127.0.0.1"]])(
  "host name %j without an option is rejected",
  (serverName) => {
    expect(() => route(serverName)).toThrow(ConnectionRejected);
    expect(() => route(serverName)).toThrow(/^Endpoint ID is not specified/);
  },
);
