import { expect, test } from "vitest";
import { timestamp } from "../../../src/http/timestamps.ts";
import { DAY, END_OF_TIME, HOUR, MINUTE, parseDuration, SECOND } from "../../../src/kernel/time.ts";
import { createBranch, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

test.each([
  ["90s", 90 * SECOND],
  ["10m", 10 * MINUTE],
  ["2h", 2 * HOUR],
  ["7d", 7 * DAY],
  ["250ms", 250],
  ["1.5h", 90 * MINUTE],
  ["0.5s", 500],
  ["10 m", 10 * MINUTE],
  [" 5s ", 5 * SECOND],
  ["0", 0],
  ["1500ms", 1_500],
  ["0", 0],
  [0, 0],
  [0, 0],
])("%j is a duration of %i ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  "",
  " ",
  "s",
  "-5m",
  "+5m",
  "5 minutes",
  "5w",
  "5M",
  "1h30m",
  "1e3",
  "0x10",
  "1.5",
  "1500",
  1_500,
  "0.0001s",
  ".5s",
  "5.s",
  "Infinity",
  "NaN",
  -1,
  0.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1e21,
  "99999999999d",
])("%j is not a duration", (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test("the longest duration reaches from 1970 to the end of the year 9999", () => {
  expect(parseDuration(`${END_OF_TIME}ms`)).toBe(END_OF_TIME);
  expect(parseDuration(`${END_OF_TIME + 1}ms`)).toBeUndefined();
  expect(new Date(END_OF_TIME).toISOString()).toBe("9999-12-31T23:59:59.999Z");
});

test("timestamps are ISO 8601 in UTC with whole seconds, never rounded up", () => {
  expect(timestamp(Date.parse("2022-12-03T15:37:07Z"))).toBe("2022-12-03T15:37:07Z");
  expect(timestamp(Date.parse("2022-12-03T15:37:07.999Z"))).toBe("2022-12-03T15:37:07Z");
  expect(timestamp(0)).toBe("1970-01-01T00:00:00Z");
  expect(timestamp(END_OF_TIME)).toBe("9999-12-31T23:59:59Z");
});

/** Every value of a JSON document whose name marks an instant. */
function instantsIn(value: unknown, name = ""): [string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => instantsIn(item));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => instantsIn(inner, key));
  return /(_at|_active|_period_start|_period_end|_timestamp|^at|^now)$/.test(name) && value !== null
    ? [[name, value]]
    : [];
}

test("every timestamp of the API has that format; those of the control API have milliseconds", async () => {
  const double = await createDouble();
  const { projectId, branchId, endpointId, path } = await createProject(double);
  await createBranch(double, projectId, [{ type: "read_only" }]);
  await recordActivity(double, endpointId, { duration_ms: 1_500 });
  await double.advance("1h");
  const api = [
    "/projects",
    `/projects/${projectId}`,
    `/projects/${projectId}/endpoints`,
    path,
    `/projects/${projectId}/operations`,
    "/api_keys",
  ];
  api.push(
    `/projects/${projectId}/branches`,
    `/projects/${projectId}/branches/${branchId}/roles`,
    "/users/me/organizations",
  );
  for (const call of api) {
    const found = instantsIn((await double.api("GET", call)).body);
    expect([call, found.length > 0]).toEqual([call, true]);
    for (const [name, value] of found)
      expect([call, name, value]).toEqual([
        call,
        name,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      ]);
  }
  for (const call of ["/clock", "/state", "/events", "/accounts", `/endpoints/${endpointId}/stats`]) {
    const found = instantsIn((await double.sim("GET", call)).body);
    for (const [name, value] of found) {
      expect([call, name, value]).toEqual([
        call,
        name,
        expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      ]);
    }
  }
});

test("the host of a compute is its id and region; the pooler's has -pooler after the id", async () => {
  const double = await createDouble();
  for (const [region_id, proxy] of [
    ["aws-us-east-2", "us-east-2.aws.standin.localhost"],
    ["azure-gwc", "gwc.azure.standin.localhost"],
  ]) {
    const { created, endpointId } = await createProject(double, { region_id });
    const [endpoint] = created.endpoints;
    expect(endpoint).toMatchObject({ host: `${endpointId}.${proxy}`, proxy_host: proxy, region_id });
    expect(created.project.proxy_host).toBe(proxy);
    expect(created.connection_uris[0].connection_parameters).toMatchObject({
      host: endpoint.host,
      pooler_host: `${endpointId}-pooler.${proxy}`,
    });
  }
});

test("a connection URI uses the branch's primary, the named endpoint, or the pooler", async () => {
  const double = await createDouble();
  const { projectId, branchId, created, endpointId } = await createProject(double, {
    branch: { role_name: "a b", database_name: "x/y" },
  });
  const { endpointIds } = await createBranch(double, projectId, [{ type: "read_only" }]);
  const uri = async (query: string) =>
    (
      await double.api(
        "GET",
        `/projects/${projectId}/connection_uri?database_name=x%2Fy&role_name=a%20b${query}`,
      )
    ).body;
  const { password } = created.roles[0];
  const { host } = created.endpoints[0];
  expect((await uri("")).uri).toBe(`postgresql://a%20b:${password}@${host}/x%2Fy?sslmode=require`);
  expect((await uri("&pooled=true")).uri).toContain(`@${endpointId}-pooler.`);
  expect((await uri(`&branch_id=${branchId}&endpoint_id=${endpointId}`)).uri).toContain(`@${host}/`);
  expect((await uri(`&endpoint_id=${endpointIds[0]}`)).uri).toContain(`@${endpointIds[0]}.`);
  expect((await uri(`&branch_id=${branchId}&endpoint_id=${endpointIds[0]}`)).code).toBe("ENDPOINT_NOT_FOUND");
  expect((await uri("&branch_id=br-not-there-12345678")).code).toBe("BRANCH_NOT_FOUND");
  expect((await uri("&pooled=perhaps")).code).toBe("BAD_REQUEST");
});
