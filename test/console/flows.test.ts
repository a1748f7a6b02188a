import { join } from "node:path";
import { expect, test } from "vitest";
import type { AnsweredEvent } from "../support/answers/control-answers.ts";
import {
  accessibilityViolations,
  addProject,
  openConsole,
  openOwnConsole,
  shareServer,
} from "../support/browser/browser.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { testDirectory } from "../support/server/running-server.ts";

const MINUTE = 60_000;

shareServer();

test("an empty world says how to begin, and a project is created from there", async () => {
  const { page } = await openConsole();
  await page.getByText("This world has no projects.").waitFor();
  await page.getByRole("button", { name: "Create project" }).click();
  await page.getByLabel("Name").fill("shop");
  await page.getByRole("dialog").getByRole("button", { name: "Create project" }).click();
  await page.getByRole("navigation", { name: "Projects" }).getByRole("button", { name: "shop" }).waitFor();
  await page.getByRole("heading", { name: "shop" }).waitFor();
  await page.getByRole("button", { name: "shop / main", exact: true }).waitFor();
});

test.each([
  ["Shop", ["preview/checkout"], 1],
  ["Fleet", ["customer-1", "customer-8"], 8],
  ["Agent platform", ["task-1", "task-6"], 1],
])("an empty world opens the prepared world %s by the keyboard alone", async (name, shown, projects) => {
  const { page, server } = await openConsole();
  const button = page.getByRole("button", { name, exact: true });
  await button.waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
  const before = (await server.sim("GET", "/clock")).body;
  await button.focus();
  await page.keyboard.press("Enter");
  for (const text of shown)
    await page.getByRole("navigation", { name: "Projects" }).getByText(text, { exact: true }).waitFor();
  await page.getByText("This world has no projects.").waitFor({ state: "detached" });
  const { body: state } = await server.sim("GET", "/state");
  expect(state.projects).toHaveLength(projects);
  await expect
    .poll(async () => Date.parse((await server.sim("GET", "/clock")).body.now) - Date.parse(before.now))
    .toBeGreaterThan(86_400_000);
  expect((await server.sim("GET", "/clock")).body.mode).toBe(before.mode);
  const { body: history } = await server.sim("GET", "/events?limit=10000");
  const visits = history.events.filter(({ type }: AnsweredEvent) => type === "ActivityRecorded");
  expect(visits.length).toBeGreaterThan(20);
});

test("the clock is advanced by buttons, to the next event, by a text, and played", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  const face = page.locator("time.face");
  await page.getByRole("button", { name: "+1 min" }).click();
  await page.locator("time.face", { hasText: "08:01:20" }).waitFor();
  await page.getByRole("button", { name: "+5 min" }).click();
  await page.locator("time.face", { hasText: "08:06:20" }).waitFor();
  await page.getByRole("button", { name: "Show trace" }).click();
  const events = page.getByRole("tabpanel").getByRole("listitem");
  await page.getByText("What happened on the way to 2026-03-02 08:06:20.").waitFor();
  expect(await events.locator("summary").allTextContents()).toEqual([
    expect.stringContaining("Compute suspended shop / main"),
    expect.stringContaining("Operation scheduled suspend compute, shop / main"),
  ]);
  await page.getByRole("button", { name: "Show all events" }).click();
  await events.getByText("Project created").waitFor();
  await page.getByRole("button", { name: "Advance by or to …" }).click();
  await page.getByLabel("By a duration, or to an instant").fill("45m");
  await page.getByRole("button", { name: "Advance", exact: true }).click();
  await page.locator("time.face", { hasText: "08:51:20" }).waitFor();
  await page.getByLabel("Clock mode").selectOption("3600x");
  await page.locator("time.face", { hasText: "09:" }).waitFor();
  expect((await server.sim("GET", "/clock")).body).toMatchObject({ mode: "scaled", factor: 3600 });
  await page.getByLabel("Clock mode").selectOption("manual");
  await page.getByText("paused (manual)").waitFor({ state: "attached" });
  expect(await face.textContent()).toContain("2026-03-02");
});

test("the page follows a clock that another client moves, also without an event", async () => {
  const { page, server } = await openConsole();
  await page.locator("time.face", { hasText: "08:00:00" }).waitFor();
  await server.sim("POST", "/clock/advance", { by: "7s" });
  await page.locator("time.face", { hasText: "08:00:07" }).waitFor();
  await server.sim("PUT", "/clock", { mode: "scaled", factor: 60 });
  await page.getByText("plays at 60×").waitFor({ state: "attached" });
  await expect.poll(() => page.getByLabel("Clock mode").inputValue()).toBe("60x");
});

test("a wrong duration is answered in the server's words, and the dialog stays open", async () => {
  const { page } = await openConsole();
  await page.getByRole("button", { name: "Advance by or to …" }).click();
  await page.getByLabel("By a duration, or to an instant").fill("soon");
  await page.getByRole("button", { name: "Advance", exact: true }).click();
  await page.getByRole("alert").getByText("by:").waitFor();
  expect(await page.getByRole("dialog").isVisible()).toBe(true);
});

test("activity wakes a compute, the countdown runs, and its state is explained with events", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await page.getByRole("button", { name: "shop / main", exact: true }).click();
  const details = page.getByRole("region", { name: "Details" });
  await details.getByText("suspended", { exact: true }).waitFor();
  await details.getByText("nothing had used it since").waitFor();
  await details.getByRole("button", { name: "Send activity" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Next event" }).click();
  await details.getByText("active with 0.25 CU").waitFor();
  await details.getByText("suspends in").waitFor();
  await details.getByRole("button", { name: "Suspend", exact: true }).click();
  await page.getByRole("button", { name: "Next event" }).click();
  await details.getByText("suspended", { exact: true }).waitFor();
  await details.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("button", { name: "+1 min" }).click();
  await details.getByText("active with 0.25 CU").waitFor();
});

test("of many computes and requests, those on screen are rendered, and the last ones are reached", async () => {
  const COMPUTES = 410;
  const { page } = await openConsole({
    before: async (server) => {
      for (let number = 1; number <= COMPUTES; number += 1)
        await server.api("POST", "/projects", { project: { name: `project-${number}` } });
    },
  });
  const timeline = page.getByRole("region", { name: "Timeline" });
  const names = timeline.locator(".lane-names button");
  await timeline.getByRole("button", { name: "project-1 / main", exact: true }).waitFor();
  expect(await names.count()).toBeLessThan(COMPUTES / 2);
  await timeline.locator(".lanes").evaluate((lanes) => lanes.scrollTo(0, lanes.scrollHeight));
  const nodes = page.getByRole("navigation", { name: "Projects" }).locator(".node");
  expect(await nodes.count()).toBeLessThan(200);
  const last = timeline.getByRole("button", { name: `project-${COMPUTES} / main`, exact: true });
  await last.click();
  await page.getByRole("heading", { name: `project-${COMPUTES} / main` }).waitFor();
  expect(await names.count()).toBeLessThan(COMPUTES / 2);
  const requests = page.getByRole("tabpanel").locator("tbody tr");
  expect(await requests.count()).toBeLessThan(100);
  await expect
    .poll(async () => {
      await requests.last().scrollIntoViewIfNeeded();
      return await requests.count();
    })
    .toBe(200);
});

test("an organization has details, and a project a graph of its branches with their points", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  const tree = page.getByRole("navigation", { name: "Projects" });
  const { body } = await server.sim("GET", "/accounts");
  await tree.getByRole("button", { name: body.accounts[0].name }).click();
  const details = page.getByRole("region", { name: "Details" });
  await details
    .getByText(body.accounts[0].organization_id ?? "org-")
    .first()
    .waitFor();
  await details.getByRole("button", { name: "shop" }).click();
  const { body: projects } = await server.api("GET", "/projects");
  await server.sim("POST", "/clock/advance", { by: "1h" });
  await server.api("POST", `/projects/${projects.projects[0].id}/branches`, { branch: { name: "preview" } });
  const graph = details.getByRole("group", { name: "Branches and the points where they begin" });
  const preview = graph.getByRole("button", { name: "preview, from its parent as of 2026-03-02 09:00:20" });
  await preview.focus();
  await page.keyboard.press("Enter");
  await details.getByRole("heading", { name: "shop / preview" }).waitFor();
});

test("the world is read once, and then only the projects that change", async () => {
  const { page, server } = await openConsole({
    before: async (server) => {
      await addProject(server, "shop");
      await addProject(server, "other");
    },
  });
  const tree = page.getByRole("navigation", { name: "Projects" });
  const reads: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/_sim/state")) reads.push(decodeURIComponent(request.url()));
  });
  await page.reload();
  await tree.getByRole("button", { name: "other", exact: true }).waitFor();
  await page.getByText("live", { exact: true }).waitFor();
  expect(reads.splice(0)).toHaveLength(1);
  const { body } = await server.api("GET", "/projects?search=other");
  const [{ id }] = body.projects;
  await server.api("PATCH", `/projects/${id}`, { project: { name: "renamed" } });
  await tree.getByRole("button", { name: "renamed", exact: true }).waitFor();
  expect(reads.length).toBeGreaterThan(0);
  expect(reads.filter((url) => !url.endsWith(`&project_id=${id}`))).toEqual([]);
});

test("a branch is created and deleted, and its connection string is shown", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  const tree = page.getByRole("navigation", { name: "Projects" });
  await tree.getByRole("button", { name: "main", exact: true }).click();
  await page.getByRole("button", { name: "Show connection string" }).click();
  await page.getByText(/^postgres(ql)?:\/\/neondb_owner:/).waitFor();
  await page.getByText("No Postgres process has written to this branch").waitFor();
  await page.getByRole("button", { name: "New replica" }).click();
  await page.getByRole("heading", { name: "shop / main (replica)" }).waitFor();
  await server.sim("POST", "/clock/advance", { by: "1m" });
  await tree.getByRole("button", { name: "main", exact: true }).click();
  await page.getByText("All fields").click();
  await page.getByText("init_source").waitFor();
  await page.getByRole("button", { name: "New branch" }).click();
  await page.getByLabel("Name").fill("preview/login");
  await page.getByRole("button", { name: "Create branch" }).click();
  await tree.getByRole("button", { name: "preview/login" }).click();
  await server.sim("POST", "/clock/advance", { by: "1m" });
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await tree.getByRole("button", { name: "preview/login" }).waitFor({ state: "detached" });
});

test("the past is shown as it was, a fork begins there, and the present comes back", async () => {
  const { page, server, url } = await openConsole({
    before: async (server) => {
      await addProject(server, "first");
      await server.sim("POST", "/clock/advance", { by: "30m" });
      await addProject(server, "second");
    },
  });
  const tree = page.getByRole("navigation", { name: "Projects" });
  await tree.getByRole("button", { name: "second", exact: true }).waitFor();
  const box = await page.getByRole("application").boundingBox();
  if (box === null) throw new Error("the timeline has no drawing");
  await page.waitForTimeout(300);
  await page.mouse.click(box.x + box.width * 0.6, box.y + 10);
  await page.getByRole("button", { name: "Back to now" }).waitFor();
  // The drawing shows the hour up to 7.2 min after 08:30:40.
  expect(await page.locator(".past-banner time").textContent()).toMatch(/^2026-03-02 08:13:5\d/);
  await tree.getByRole("button", { name: "second", exact: true }).waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: "+1 min" }).isDisabled()).toBe(true);
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByText("Project created first").waitFor();
  expect(await page.getByText("Project created second").count()).toBe(0);
  await page.getByRole("tab", { name: "Requests" }).click();
  await page.getByText("POST /projects").waitFor();
  await page.getByRole("button", { name: "first / main", exact: true }).click();
  await page.getByText("Last active").waitFor();

  const opened = page.waitForEvent("popup");
  await page.getByRole("button", { name: "Fork here" }).click();
  await page.getByLabel("Name of the new world").fill("experiment");
  await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
  const fork = await opened;
  await fork
    .getByRole("navigation", { name: "Projects" })
    .getByRole("button", { name: "first", exact: true })
    .waitFor();
  expect(fork.url()).toBe(new URL("/w/experiment/", url).href);
  const { body } = await server.sim("GET", "/worlds/experiment");
  expect(Date.parse(body.world.now)).toBeLessThan(Date.parse("2026-03-02T08:30:00Z"));

  await page.getByRole("button", { name: "Back to now" }).click();
  await tree.getByRole("button", { name: "second", exact: true }).waitFor();
});

test("requests and events are listed, filtered and unfolded while they happen", async () => {
  const { page, server } = await openConsole();
  await page.getByText("No client has called yet.").waitFor();
  await addProject(server, "shop");
  await page.getByText("POST /projects").click();
  await page.getByText('"operation": "createProject"').waitFor();
  const events = page.getByRole("list", { name: "Events of this request" });
  await events.getByText("Project created").waitFor();
  await events.getByText("Operation scheduled").first().waitFor();
  // A read, which is no event.
  await server.api("GET", "/projects?limit=7");
  await page.getByText("GET /projects?limit=7").waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByText("Compute created").waitFor();
  await page.getByLabel("Filter events by text or id").fill("role");
  await page.getByText("Compute created").waitFor({ state: "detached" });
});

test("a selection of the log or of the timeline becomes a scenario that runs green", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  await server.sim("POST", "/clock/advance", { by: "10m" });
  await addProject(server, "second");
  await server.api("PATCH", "/projects/unknown", { project: { name: "x" } });
  await page.getByRole("checkbox", { name: "Select request 2" }).click();
  expect(await page.getByRole("checkbox", { name: "Select request 1" }).isChecked()).toBe(false);
  await page.getByRole("checkbox", { name: "Select request 3" }).click();
  await page.getByRole("button", { name: "Make scenario" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("2 steps repeat the requests").waitFor();
  const download = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const path = join(testDirectory(), (await download).suggestedFilename());
  await (await download).saveAs(path);
  const { stdout } = await runStandin(["run", path, "--json"]);
  expect(JSON.parse(stdout).runs).toMatchObject([{ verdict: "passed", failures: [] }]);

  await page.getByRole("button", { name: "Clear selection" }).click();
  const box = await page.getByRole("application").boundingBox();
  if (box === null) throw new Error("the timeline has no drawing");
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * 0.5, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 60);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.getByText("Selected: 2026-03-02").waitFor();
  await page.getByRole("button", { name: "Clear selection" }).click();
  await page.getByRole("application").focus();
  await page.keyboard.press("b");
  await page.getByText("Selected: 2026-03-02").waitFor();
});

test("a fault is set from an example, counts its hits and is removed", async () => {
  const { page, server } = await openConsole();
  await page.getByRole("tab", { name: "Faults" }).click();
  await page.getByText("No faults: everything works.").waitFor();
  await page.getByRole("button", { name: "Add fault …" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill("slow");
  await form.getByLabel("Effect").selectOption("Start computes slower");
  await form.getByLabel("Value").fill("5s..20s");
  await form.getByLabel("Only for").fill("start_compute");
  await form.getByLabel("When").selectOption("for every nth");
  await form.getByLabel("n", { exact: true }).fill("2");
  await form.getByRole("button", { name: "Add fault" }).click();
  const slow = page.getByRole("row", { name: /slow/ });
  await slow.waitFor();
  expect((await server.sim("GET", "/faults/slow")).body.fault).toMatchObject({
    on: { action: ["start_compute"] },
    when: { every: 2 },
    effect: { start_slower: {} },
  });
  await slow.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("No faults: everything works.").waitFor();
  await page.getByRole("button", { name: "Answer one request in a hundred with 503 …" }).click();
  await page.getByLabel("Name").fill("flaky");
  await page
    .getByLabel("Fault", { exact: true })
    .fill('{"on":{"operation":"listProjects"},"effect":{"answer":{"status":503}}}');
  await page.getByRole("button", { name: "Set fault" }).click();
  await page.getByRole("cell", { name: "0 / 0" }).waitFor();
  expect((await server.api("GET", "/projects")).status).toBe(503);
  await page.getByRole("cell", { name: "1 / 1" }).waitFor();
  await page.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("No faults: everything works.").waitFor();
  expect((await server.api("GET", "/projects")).status).toBe(200);
});

test("an API key is shown once, works, and is revoked", async () => {
  const { page, server } = await openConsole();
  await page.getByRole("tab", { name: "API keys" }).click();
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name").fill("ci");
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.locator(".once code").textContent()) ?? "";
  expect((await server.api("GET", "/projects", undefined, key)).status).toBe(200);
  await page.getByRole("button", { name: "Done" }).click();
  expect(await page.getByText(key).count()).toBe(0);
  await page.getByRole("row", { name: /ci/ }).getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("row", { name: /ci/ }).waitFor({ state: "detached" });
  expect((await server.api("GET", "/projects", undefined, key)).status).toBe(401);
});

test("a snapshot is taken and restored, and the page follows the world back", async () => {
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  await page.getByRole("tab", { name: "Snapshots" }).click();
  await page.getByRole("button", { name: "Take snapshot" }).click();
  await page.getByLabel("Name").fill("before");
  await page.getByRole("dialog").getByRole("button", { name: "Take snapshot" }).click();
  await page.getByRole("cell", { name: "before" }).waitFor();
  await addProject(server, "later");
  const tree = page.getByRole("navigation", { name: "Projects" });
  await tree.getByRole("button", { name: "later", exact: true }).waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await tree.getByRole("button", { name: "later", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByText("Project created shop").waitFor();
  await page.getByText("Project created later").waitFor({ state: "detached" });
});

test("worlds are forked, opened by a link and deleted", async () => {
  const { page, server } = await openOwnConsole();
  await server.sim("POST", "/worlds", { name: "other" });
  await page.getByRole("tab", { name: "Worlds" }).click();
  await page.getByRole("link", { name: "other" }).waitFor();
  await page.getByRole("row", { name: /other/ }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "other" }).waitFor({ state: "detached" });
});

test("two worlds are compared: objects that one lacks, and fields that differ", async () => {
  const { page, server } = await openOwnConsole({
    before: async (server) => {
      await addProject(server, "shop");
      await server.sim("POST", "/worlds", { name: "copy", clock: "manual" });
      await server.sim("POST", "/clock/advance", { by: "10m" });
      await addProject(server, "new");
    },
  });
  await page.getByRole("tab", { name: "Worlds" }).click();
  await page.getByRole("button", { name: "Compare" }).click();
  const differences = page.getByRole("region", { name: "Differences of default and copy" });
  await differences.getByRole("row", { name: "project new exists –" }).waitFor();
  await differences.getByRole("row", { name: "compute shop / main" }).getByText("phase.state").waitFor();
  const state = differences.getByRole("row").filter({ hasText: "phase.state" });
  expect(await state.getByRole("cell").allTextContents()).toEqual([
    expect.stringContaining("compute shop / main"),
    "phase.state",
    "idle",
    "active",
  ]);
  await server.sim("POST", "/snapshots", { name: "before" });
  await differences.getByRole("button", { name: "Close" }).click();
  expect(await differences.count()).toBe(0);
});

test("what-if answers from the world's own history, and its delay is applied", async () => {
  const { page, server, url } = await openConsole({
    before: async (server) => {
      const endpointId = await addProject(server, "shop");
      const { body } = await server.sim("GET", "/clock");
      const now = Date.parse(body.now);
      await server.sim(
        "POST",
        "/activity",
        Array.from({ length: 40 }, (_, index) => ({
          endpoint_id: endpointId,
          at: new Date(now + (index + 1) * 7 * MINUTE).toISOString(),
        })),
      );
      await server.sim("POST", "/clock/advance", { by: "5h" });
    },
  });
  await page.getByRole("tab", { name: "What if" }).click();
  const advice = page.getByRole("region", { name: "Advice" });
  await advice.getByText("No recommendation: 0.2 days of traffic, and 7 are needed").waitFor();
  await advice.getByRole("heading", { name: "Not known" }).waitFor();
  await page.getByText("Suspend after 5 min without activity").waitFor();
  await page.getByText("too little to decide by").waitFor();
  await advice.getByLabel("Plan").selectOption("launch");
  await page.getByText("Prices: launch plan").waitFor();
  const slider = page.getByRole("slider");
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("Suspend after 10 min without activity").waitFor();
  await page.getByText("−100 %").first().waitFor();
  const byCompute = page.getByRole("region", { name: "By compute" });
  const row = byCompute.getByRole("row", { name: /shop \/ main/ });
  await row.getByText("−100 %").first().waitFor();
  await row.getByRole("button", { name: "shop / main" }).click();
  await page.getByRole("heading", { name: "shop / main" }).waitFor();
  await page.getByRole("button", { name: "Fork and replay …" }).click();
  expect(await page.getByLabel("From", { exact: true }).inputValue()).toBe("2026-03-02T08:07:19.999Z");
  await page.getByLabel("Name of the new world").fill("replayed");
  await page.getByRole("dialog").getByRole("button", { name: "Fork and replay" }).click();
  await page.getByText("World replayed had 40 arrivals again up to 2026-03-02 13:00:20.").waitFor();
  const fork = new URL("/w/replayed/_sim/", url);
  const counted = async (path: string | URL) => {
    const { events } = (await (await fetch(new URL("events?limit=10000", path))).json()) as {
      events: AnsweredEvent[];
    };
    const count = (name: string) => events.filter(({ type }: { type: string }) => type === name).length;
    return { arrivals: count("ActivityRecorded"), suspensions: count("ComputeSuspended") };
  };
  // After 5 min without activity, the compute was suspended before each arrival, all 7 min.
  const before = await counted(new URL("_sim/", url));
  expect(await counted(fork)).toEqual({ arrivals: 40, suspensions: before.suspensions - 39 });
  await page.getByRole("button", { name: "Apply 10 min to this world …" }).click();
  await page.getByRole("button", { name: "Set delays" }).click();
  await page.getByText("The autosuspend delay is now 10 min.").waitFor();
  const { body } = await server.sim("GET", "/endpoints");
  expect(body.endpoints[0].autosuspend.delay_s).toBe(600);
});

test("what-if begins with what to change, on a narrow page as well", async () => {
  const { page, server } = await openConsole({
    width: 400,
    before: async (server) => {
      const endpointId = await addProject(server, "shop");
      for (let day = 0; day < 14; day += 1) {
        const { body } = await server.sim("GET", "/clock");
        const now = Date.parse(body.now);
        await server.sim(
          "POST",
          "/activity",
          Array.from({ length: 20 }, (_, index) => ({
            endpoint_id: endpointId,
            at: new Date(now + (index * 60 + ((index * day) % 40)) * MINUTE).toISOString(),
          })),
        );
        await server.sim("POST", "/clock/advance", { by: "24h" });
      }
    },
  });
  await page.getByRole("tab", { name: "What if" }).click();
  const advice = page.getByRole("region", { name: "Advice" });
  for (const plan of ["scale", "launch"]) {
    const { body } = await server.sim("POST", "/whatif/advice", { plan });
    const { decision, not_known } = body["text"] as { decision: string; not_known: string[] };
    expect(decision).not.toContain("No recommendation");
    await advice.getByLabel("Plan").selectOption(plan);
    await expect.poll(() => advice.locator(".decision").textContent()).toBe(decision);
    expect(await advice.getByText(not_known[0] ?? "").count()).toBe(1);
  }
  await advice.getByText("Bill a month").waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);
});

test("the memory of the page does not grow with the number of events", async () => {
  const EVENTS_PER_ROUND = 2_000;
  const { page, server } = await openConsole({ before: (server) => addProject(server, "shop") });
  const { body } = await server.sim("GET", "/endpoints");
  const [{ endpoint_id }] = body.endpoints;
  const session = await page.context().newCDPSession(page);
  const heapAfterRound = async () => {
    const { body: clock } = await server.sim("GET", "/clock");
    const begin = Date.parse(clock.now);
    await server.sim(
      "POST",
      "/activity",
      Array.from({ length: EVENTS_PER_ROUND / 2 }, (_, index) => ({
        endpoint_id,
        at: new Date(begin + index * 1_000).toISOString(),
      })),
    );
    const { body: advanced } = await server.sim("POST", "/clock/advance", { by: "1h" });
    await page.locator("time.face", { hasText: advanced.now.slice(11, 19) }).waitFor();
    await page.waitForTimeout(150);
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  await page.getByRole("tab", { name: "Events" }).click();
  await heapAfterRound();
  const first = await heapAfterRound();
  for (let round = 0; round < 2; round += 1) await heapAfterRound();
  const last = await heapAfterRound();
  expect(last - first).toBeLessThan(2_000_000);
});
