import { expect, test } from "vitest";
import { openPage } from "../support/browser/browser.ts";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

const START = ["--clock", "manual", "--start-at", "2026-03-02T08:00:00Z", "--operations", "immediate"];
const server = await serverForTests(START);

test("a branch shows what Postgres has stored for it, and a new child refers to its data", async () => {
  const { uri, projectId } = await createBranch(server, { name: "shop" });
  const client = await connect(uri);
  await client.query("CREATE TABLE orders AS SELECT generate_series(1, 20000) AS number");
  await client.end();
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await server.api("POST", `/projects/${projectId}/branches`, { branch: { name: "preview" } });

  const { page } = await openPage(new URL("/", server.ready.api_url).href);
  const tree = page.getByRole("navigation", { name: "Projects" });
  const details = page.getByRole("region", { name: "Details" });
  const fact = (name: string) => details.locator("dt", { hasText: name }).locator("+ dd");
  await tree.getByRole("button", { name: "main", exact: true }).click();
  await expect.poll(() => fact("Engine").textContent()).toMatch(/^postgres \d+$/);
  expect(await fact("Stored up to").textContent()).toContain("2026-03-02 08:");
  expect(await fact("Size").textContent()).toMatch(/^[1-9][\d.]* MiB$/);
  expect(await fact("Available since").textContent()).toBe("the first write");
  await tree.getByRole("button", { name: "preview", exact: true }).click();
  await expect.poll(() => fact("Size").textContent()).toBe("0 B, refers to the data of another branch");
});
