import { expect, test } from "vitest";
import { memoryStorage } from "../../../src/app/open-worlds.ts";
import { type EndpointPath, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const NEVER = "2000-01-01T00:00:00Z";

/** `pending_state` and `last_active` of a compute in the list, and when it is read alone. */
async function shown(double: Double, projectId: string, path: EndpointPath) {
  const [listed] = (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints;
  const { endpoint: read } = (await double.api("GET", path)).body;
  return [listed, read].map((endpoint) => [endpoint?.pending_state, endpoint?.last_active]);
}

test("with recorded answers, lists have pending_state while a change is pending, and last_active from the start", async () => {
  const double = await createDouble({ answers: "recorded" });
  const { projectId, endpointId, path } = await createProject(double);
  expect(await shown(double, projectId, path)).toEqual([
    [undefined, NEVER],
    [undefined, NEVER],
  ]);
  await double.api("POST", `${path}/suspend`);
  expect(await shown(double, projectId, path)).toEqual([
    ["idle", NEVER],
    ["idle", NEVER],
  ]);
  await double.advance("10s");
  await recordActivity(double, endpointId);
  const [listed] = await shown(double, projectId, path);
  expect(listed).toEqual(["active", "2026-01-01T00:00:20Z"]);
  expect((await double.api("DELETE", path)).body.endpoint).not.toHaveProperty("pending_state");
});

test("by default they have neither, as in the reference; the option of a later start changes that", async () => {
  const storage = memoryStorage();
  const first = await createDouble({ storage });
  const { projectId, path } = await createProject(first);
  await first.api("POST", `${path}/suspend`);
  await first.close();
  const listedWith = async (answers?: "reference" | "recorded") => {
    const double = await createDouble({ storage, ...(answers === undefined ? {} : { answers }) });
    const [listed] = await shown(double, projectId, path);
    await double.close();
    return listed;
  };
  expect(await listedWith()).toEqual([undefined, undefined]);
  expect(await listedWith("recorded")).toEqual(["idle", NEVER]);
  expect(await listedWith()).toEqual(["idle", NEVER]);
  expect(await listedWith("reference")).toEqual([undefined, undefined]);
});

test.each([
  ["reference", { pg_settings: {} }],
  ["recorded", {}],
] as const)("with answers as %s, a compute without settings has %j", async (answers, empty) => {
  const double = await createDouble({ answers });
  const { projectId, path } = await createProject(double);
  const settings = async () => {
    const [listed] = (await double.api("GET", `/projects/${projectId}/endpoints`)).body.endpoints;
    return [listed?.settings, (await double.api("GET", path)).body.endpoint.settings];
  };
  expect(await settings()).toEqual([empty, empty]);
  const set = { pg_settings: { statement_timeout: "5s" } };
  const changed = await double.api("PATCH", path, { endpoint: { settings: set } });
  expect(changed.body.endpoint.settings).toMatchObject(set);
  expect(await settings()).toMatchObject([set, set]);
});
