import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  accessibilityViolations,
  addProject,
  openConsole,
  openOwnConsole,
  shareServer,
} from "../support/browser/browser.ts";
import { startServer, testDirectory } from "../support/server/running-server.ts";

const HTML = { Accept: "text/html" };

shareServer();

test("names that look like markup are text", async () => {
  const name = '<img src=x onerror="document.title=1">';
  const { page } = await openConsole({ before: (server) => addProject(server, name) });
  await page.getByRole("navigation", { name: "Projects" }).getByRole("button", { name }).click();
  await page.getByRole("heading", { name }).waitFor();
  await page.getByText(`${name} / main`).first().waitFor();
  expect(await page.locator("#console img[src=x]").count()).toBe(0);
  expect(await page.title()).toMatch(/^test-\d+ – standin$/);
});

test("the page has a strict policy, and forbids being framed", async () => {
  const { page, url } = await openConsole();
  const response = await page.request.get(url, { headers: HTML });
  const policy = response.headers()["content-security-policy"] ?? "";
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
  ])
    expect(policy).toContain(part);
  expect(policy).not.toContain("unsafe");
});

test("a client that is no browser learns where the surfaces are", async () => {
  const { page, url } = await openConsole();
  const response = await page.request.get(url, { headers: { Accept: "*/*" } });
  expect(response.status()).toBe(404);
  const { message } = (await response.json()) as { message: string };
  for (const surface of ["/api/v2", "/_sim", "browser for the console", "/docs/"])
    expect(message).toContain(surface);
});

test("with a control token the page asks for it, and works with the right one only", async () => {
  const token = "t".repeat(32);
  const { page } = await openOwnConsole({
    controlToken: token,
    before: (server) => addProject(server, "shop"),
  });
  await page.getByLabel("Control token").fill("wrong");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("Control token").waitFor();
  await page.getByLabel("Control token").fill(token);
  await page.getByRole("button", { name: "Continue" }).click();
  await page
    .getByRole("navigation", { name: "Projects" })
    .getByRole("button", { name: "shop", exact: true })
    .waitFor();
  expect(await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")).toEqual([
    0,
    0,
    "",
  ]);
});

test("the token of a team opens the page of its world, and what it may not do is refused by name", async () => {
  const [token, teamToken] = ["t".repeat(32), "the-token-of-team-a"];
  const teams = join(testDirectory(), "teams.json");
  const sha256 = createHash("sha256").update(teamToken).digest("hex");
  const team = { name: "team-a", sha256, worlds: ["team-a"], may: ["read"] };
  writeFileSync(teams, JSON.stringify({ version: 1, teams: [team] }));
  const { page, url } = await openOwnConsole({
    args: ["--team-tokens", teams],
    controlToken: token,
    before: async (server) => {
      expect((await server.sim("POST", "/worlds", { name: "team-a" })).status).toBe(201);
    },
  });
  const logIn = async () => {
    await page.getByLabel("Control token").fill(teamToken);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await logIn();
  const refusal = page.getByRole("alert");
  await expect
    .poll(() => refusal.textContent())
    .toContain('is not for the world "default"; it is for team-a');
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.goto(new URL("/w/team-a/", url).href);
  await logIn();
  await page.getByRole("status").getByText("live").waitFor();
  await page.getByRole("tab", { name: "Snapshots" }).click();
  await page.getByRole("button", { name: "Take snapshot" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("one");
  await dialog.getByRole("button", { name: "Take snapshot" }).click();
  await page.getByText('requires the right "restore"').waitFor();
});

test("a read-only page shows everything, and offers no changes", async () => {
  const { page, server } = await openOwnConsole({
    args: ["--console", "read-only"],
    before: async (server) => {
      await server.sim("POST", "/activity", { endpoint_id: await addProject(server, "shop") });
    },
  });
  await page.getByText("live, read-only").waitFor();
  expect(await page.getByRole("button", { name: "+5 min" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "shop / main", exact: true }).click();
  await page.getByRole("heading", { name: "Events that prove it" }).waitFor();
  for (const name of ["Send activity", "Suspend", "Restart", "Delete", "Show connection string"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  for (const tab of ["Faults", "Snapshots", "Worlds", "API keys"]) {
    await page.getByRole("tab", { name: tab }).click();
    for (const button of await page.getByRole("tabpanel").getByRole("button").all())
      expect(await button.isDisabled(), await button.innerText()).toBe(true);
  }
  await page.getByRole("tab", { name: "What if" }).click();
  await page.getByRole("tabpanel").getByText("Cost a month").first().waitFor();
  const { body } = await server.sim("GET", "/events");
  expect(body.events.filter(({ at }: { at: string }) => at > "2026-03-02T08:00:20.000Z")).toEqual([]);
});

test("clients that are no browsers get the answer of an unknown path, and --console off has no page", async () => {
  const server = await startServer(testDirectory(), ["--pg-port", "none", "--console", "off"]);
  const root = new URL("/", server.ready.api_url);
  expect((await fetch(root, { headers: HTML })).status).toBe(404);
  expect((await fetch(new URL("/_console/console.js", root))).status).toBe(404);
  const { url } = await openConsole();
  const answer = await fetch(url);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: "UNKNOWN_PATH" });
  expect((await fetch(new URL("/_console/nothing.js", url))).status).toBe(404);
});

test("the page says when the server is gone, and continues when it is back", async () => {
  const { page, server, url, complaints, restart } = await openOwnConsole({
    before: (server) => addProject(server, "shop"),
  });
  await page.getByText("live", { exact: true }).waitFor();
  await server.kill("SIGKILL");
  await page.getByText("The server does not respond.").waitFor();
  const again = await restart(new URL(url).port);
  await page.getByText("live", { exact: true }).waitFor();
  await again.sim("POST", "/clock/advance", { by: "1h" });
  await page.locator("time.face", { hasText: "09:00:20" }).waitFor();
  complaints.length = 0;
});

test("a hidden page has no connection, and shows what it missed when it is seen again", async () => {
  const { page, server } = await openConsole();
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("No client has called yet.").waitFor();
  const show = (state: "hidden" | "visible") =>
    page.evaluate(`Object.defineProperty(document, "visibilityState", { get: () => "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));`);
  const closed = ["/_sim/events/stream", "/_sim/requests/stream"].map((path) =>
    page.waitForEvent("requestfailed", (request) => request.url().includes(path)),
  );
  await show("hidden");
  await Promise.all(closed);
  await addProject(server, "shop");
  expect(await page.getByRole("button", { name: "shop", exact: true }).count()).toBe(0);
  await show("visible");
  await page.getByRole("button", { name: "shop", exact: true }).waitFor();
  await page.getByText("POST /projects").waitFor();
});

test.each([
  ["light", 1440, undefined],
  // The same elements in other colors, and in other places.
  ["dark", 1440, ["color-contrast"]],
  ["light", 420, ["color-contrast", "scrollable-region-focusable", "target-size"]],
] as const)("nothing violates accessibility rules: %s, %i px", async (scheme, width, rules) => {
  const { page, server } = await openConsole({
    scheme,
    width,
    before: (server) => addProject(server, "shop"),
  });
  await page.getByRole("button", { name: "shop / main", exact: true }).click();
  await page.getByRole("heading", { name: "Why" }).waitFor();
  expect(await accessibilityViolations(page, rules)).toEqual([]);
  await server.sim("PUT", "/faults/busy", { effect: { answer: { status: 423 } } });
  for (const tab of ["Events", "Faults", "What if", "Snapshots", "Worlds", "API keys"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(100);
    expect(await accessibilityViolations(page, rules), tab).toEqual([]);
  }
  await page.getByRole("button", { name: "Create API key" }).click();
  expect(await accessibilityViolations(page, rules), "dialog").toEqual([]);
});

test("everything is reached with the keyboard", async () => {
  const { page } = await openConsole({ before: (server) => addProject(server, "shop") });
  await page.getByRole("application").focus();
  await page.keyboard.press("[");
  await page.getByRole("button", { name: "Back to now" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Back to now" }).waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Requests" }).focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.getByRole("tab", { name: "Events" }).getAttribute("aria-selected")).toBe("true");
});

test("a narrow page does not scroll sideways", async () => {
  const { page } = await openConsole({
    width: 420,
    before: (server) => addProject(server, "a-project-with-a-long-name"),
  });
  await page.getByRole("button", { name: "a-project-with-a-long-name / main", exact: true }).click();
  await page.getByRole("heading", { name: "Why" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(420);
});
