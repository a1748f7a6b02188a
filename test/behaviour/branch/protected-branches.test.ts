import { expect, test } from "vitest";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

async function createShop(): Promise<{ double: Double; projectId: string; mainId: string; path: string }> {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  return { double, projectId, mainId: branchId, path: `/projects/${projectId}/branches` };
}

const protect = (double: Double, branch: string, isProtected: boolean) =>
  double.api("PATCH", branch, { branch: { protected: isProtected } });

const passwordOf = async (double: Double, branch: string, role: string): Promise<string> =>
  (await double.api("GET", `${branch}/roles/${role}/reveal_password`)).body.password;

test("a compute cannot be deleted while its branch is protected", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  const compute = `/projects/${projectId}/endpoints/${endpoints[0].id}`;
  await protect(double, `${path}/${mainId}`, true);
  const refused = await double.api("DELETE", compute);
  expect([refused.status, refused.body.code]).toEqual([422, "BRANCH_IS_PROTECTED"]);
  expect((await double.api("GET", compute)).status).toBe(200);
  await protect(double, `${path}/${mainId}`, false);
  expect((await double.api("DELETE", compute)).status).toBe(200);
});

test("a child of a protected branch gets new passwords; other children keep those of the parent", async () => {
  const { double, mainId, path } = await createShop();
  await double.api("POST", `${path}/${mainId}/roles`, { role: { name: "group", no_login: true } });
  await double.advance("10s");
  const origin = await passwordOf(double, `${path}/${mainId}`, "neondb_owner");
  const fork = async (name: string) => {
    const { status, body } = await double.api("POST", path, {
      branch: { name },
      endpoints: [{ type: "read_write" }],
    });
    expect(status).toBe(201);
    await double.advance("10s");
    const password = await passwordOf(double, `${path}/${body.branch.id}`, "neondb_owner");
    expect(body.connection_uris[0].connection_uri).toContain(`:${password}@`);
    return { password, role: body.roles.find((role: { name: string }) => role.name === "neondb_owner") };
  };
  const plain = await fork("plain");
  expect([plain.password, plain.role.password]).toEqual([origin, undefined]);
  await protect(double, `${path}/${mainId}`, true);
  const [one, other] = [await fork("one"), await fork("other")];
  expect(new Set([origin, one.password, other.password]).size).toBe(3);
  expect(one.role.password).toBe(one.password);
  expect(await passwordOf(double, `${path}/${mainId}`, "neondb_owner")).toBe(origin);
});

test("restoring a snapshot cannot replace a protected branch", async () => {
  const { double, projectId, mainId, path } = await createShop();
  const { snapshot } = (await double.api("POST", `${path}/${mainId}/snapshot`)).body;
  await protect(double, `${path}/${mainId}`, true);
  const restore = (body: object) =>
    double.api("POST", `/projects/${projectId}/snapshots/${snapshot.id}/restore`, body);
  const atOnce = await restore({ finalize_restore: true });
  expect([atOnce.status, atOnce.body.code]).toEqual([422, "BRANCH_IS_PROTECTED"]);
  const beside = await restore({ name: "beside" });
  expect(beside.status).toBe(200);
  await double.advance("10s");
  const finalize = () => double.api("POST", `${path}/${beside.body.branch.id}/finalize_restore`, {});
  expect((await finalize()).body.code).toBe("BRANCH_IS_PROTECTED");
  await protect(double, `${path}/${mainId}`, false);
  expect((await finalize()).status).toBe(200);
});
