import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { API_KEY, createDouble, type Double } from "../../support/double/double.ts";

const DAY = 86_400_000;
const PROJECTS = 60;

/** Projects with always-active computes, after six days. Their hours take several steps to read. */
async function createBusyAccount(): Promise<Double> {
  const double = await createDouble({ operations: "immediate" });
  for (let index = 0; index < PROJECTS; index += 1)
    await double.api("POST", "/projects", {
      project: { name: `p${index}`, default_endpoint_settings: { suspend_timeout_seconds: -1 } },
    });
  await double.advance("6d");
  return double;
}

async function pathsOf(double: Double): Promise<readonly string[]> {
  const now = double.world.now();
  const { body } = await double.api("GET", "/users/me/organizations");
  const org_id = body.organizations[0].id;
  const project_ids = (await double.api("GET", "/projects?limit=100")).body.projects
    .map(({ id }: { id: string }) => id)
    .join();
  const query = {
    from: new Date(now - 6 * DAY).toISOString(),
    to: new Date(now + DAY).toISOString(),
    granularity: "hourly",
  };
  const metrics = "compute_unit_seconds";
  return [
    `account?${new URLSearchParams(query)}`,
    `projects?${new URLSearchParams({ ...query, limit: "100" })}`,
    `v2/projects?${new URLSearchParams({ ...query, org_id, metrics, limit: "100" })}`,
    `v2/branches?${new URLSearchParams({ ...query, org_id, metrics, project_ids })}`,
  ].map((path) => `/consumption_history/${path}`);
}

async function textOf(double: Double, path: string): Promise<string> {
  const response = await double.fetch(
    new Request(`http://localhost/api/v2${path}`, { headers: { Authorization: `Bearer ${API_KEY}` } }),
  );
  expect(response.status).toBe(200);
  return response.text();
}

async function changeEverything({ world }: Double): Promise<void> {
  const computes = await world.transact(({ world: view }) => view.computes.toArray());
  await Promise.all(
    computes.map(({ id, projectId }, index) =>
      world.transact(({ world: view, execute }) => {
        const accountId = [...view.accounts.keys()][0] ?? "";
        execute(
          index % 2 === 0
            ? { type: "SuspendCompute", accountId, projectId, computeId: id }
            : { type: "DeleteProject", accountId, projectId },
        );
      }),
    ),
  );
}

test("consumption is that of the instant of the request, while the world changes as it is read", async () => {
  const double = await createBusyAccount();
  const paths = await pathsOf(double);
  const before = await Promise.all(paths.map((path) => textOf(double, path)));
  const during = Promise.all(paths.map((path) => textOf(double, path)));
  // While the usage is read, half of the computes are suspended, the other projects deleted, and old hours expire.
  await changeEverything(double);
  for (let count = 0; count < 3; count += 1) await double.advance("20d");
  expect(await during).toEqual(before);
  expect((await double.api("GET", "/projects?limit=100")).body.projects).toHaveLength(PROJECTS / 2);
  await double.close();
});

test("a request of another client is answered before much consumption has been read", async () => {
  const double = await createBusyAccount();
  const [account = ""] = await pathsOf(double);
  const order: string[] = [];
  const read = textOf(double, account).then(() => order.push("account"));
  await nextTurn();
  await double.api("GET", "/projects?limit=1").then(() => order.push("projects"));
  await read;
  expect(order).toEqual(["projects", "account"]);
  await double.close();
});

test("more requests for consumption than are read in steps at a time have the same answer", async () => {
  const double = await createBusyAccount();
  const [account = ""] = await pathsOf(double);
  const texts = await Promise.all(Array.from({ length: 20 }, () => textOf(double, account)));
  expect(new Set(texts).size).toBe(1);
  await double.close();
});

test("a reset ends a request for consumption that is still being read, with an error to try again", async () => {
  const double = await createBusyAccount();
  const [account = ""] = await pathsOf(double);
  const reading = double.api("GET", account);
  await nextTurn();
  await double.sim("POST", "/reset");
  const { status, body } = await reading;
  expect(status).toBe(503);
  const { requests } = (await double.sim("GET", `/requests?path=${account.split("?")[0]}`)).body;
  expect(requests.map(({ status, code }) => ({ status, code }))).toEqual([{ status, code: body.code }]);
  expect((await double.api("GET", "/projects")).status).toBe(200);
  await double.close();
});
