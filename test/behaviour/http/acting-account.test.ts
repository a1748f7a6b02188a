import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject } from "../../support/double/double.ts";

async function createWithAccount() {
  const double = await createDouble();
  onTestFinished(double.close);
  const { body } = await double.sim("GET", "/accounts");
  const account: string = body.accounts[0].id;
  return { double, account, base: `/accounts/${account}/api/v2` };
}

test("the control API calls the platform API for an account without a key", async () => {
  const { double, base } = await createWithAccount();
  const created = await double.sim("POST", `${base}/projects`, { project: { name: "shop" } });
  expect([created.status, created.body.project.name]).toEqual([201, "shop"]);
  const { body } = await double.api("GET", "/projects");
  expect(body.projects.map(({ name }: { name: string }) => name)).toEqual(["shop"]);
});

test("query, bad input and missing objects are answered as by the platform API", async () => {
  const { double, base } = await createWithAccount();
  await createProject(double, { name: "shop" });
  const paged = await double.sim("GET", `${base}/projects?limit=1&search=shop`);
  expect(paged.body.projects).toHaveLength(1);
  expect((await double.sim("POST", `${base}/projects`, { project: { name: 1 } })).status).toBe(400);
  expect((await double.sim("GET", `${base}/projects/none`)).status).toBe(404);
});

test("an account that does not exist is 404", async () => {
  const { double } = await createWithAccount();
  const { status, body } = await double.sim("GET", "/accounts/nobody/api/v2/projects");
  expect([status, body.code]).toEqual([404, "ACCOUNT_NOT_FOUND"]);
});

test("an account reaches only what is its own", async () => {
  const { double } = await createWithAccount();
  const { projectId } = await createProject(double);
  const other = await double.sim("POST", "/accounts", { name: "other" });
  const path = `/accounts/${other.body.account.id}/api/v2/projects/${projectId}`;
  expect((await double.sim("GET", path)).status).toBe(404);
});

test("the request log has such calls by account, without a key", async () => {
  const { double, account, base } = await createWithAccount();
  await double.sim("POST", `${base}/projects`, { project: {} });
  const { body } = await double.sim("GET", "/requests?method=POST");
  expect(body.requests).toMatchObject([
    {
      path: "/api/v2/projects",
      operation_id: "createProject",
      account_id: account,
      key_id: null,
      status: 201,
    },
  ]);
});

test("a world in /w/<name> is called the same way", async () => {
  const { double, account } = await createWithAccount();
  await double.sim("POST", "/worlds", { name: "branch" });
  const call = (method: string, path: string, body?: string) =>
    double.fetch(
      new Request(`http://localhost/w/branch/_sim/accounts/${account}/api/v2${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
      }),
    );
  expect((await call("POST", "/projects", '{"project":{"name":"in the fork"}}')).status).toBe(201);
  expect(await (await call("GET", "/projects")).json()).toMatchObject({
    projects: [{ name: "in the fork" }],
  });
  expect((await double.api("GET", "/projects")).body.projects).toHaveLength(0);
});

test.each([
  "/_sim/accounts/ID/api/v2",
  "/%5Fsim/accounts/ID/api/v2/projects",
  "/_sim/accounts/ID/api/v2/none",
])("%s is an unknown path", async (path) => {
  const { double, account } = await createWithAccount();
  const response = await double.fetch(new Request(`http://localhost${path.replace("ID", account)}`));
  expect(response.status).toBe(404);
  expect(response.headers.get("x-standin-code") ?? ((await response.json()) as { code: string }).code).toBe(
    "UNKNOWN_PATH",
  );
});

test("a client cannot choose an account with a header or a path of the platform API", async () => {
  const { double, account } = await createWithAccount();
  const response = await double.fetch(
    new Request("http://localhost/api/v2/projects", { headers: { "X-Acting-Account": account } }),
  );
  expect(response.status).toBe(401);
  expect((await double.api("GET", `/_sim/accounts/${account}/api/v2/projects`)).status).toBe(404);
});
