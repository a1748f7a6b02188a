import { expect, onTestFinished, test } from "vitest";
import { createHeld } from "../../support/double/held-double.ts";
import { IO_ERROR } from "../../support/store/held-syncs.ts";

test("a change is answered after its sync, and what was decided meanwhile after the next one", async () => {
  const { syncs, createKey, isAnswered } = await createHeld();
  const first = createKey("first");
  expect([await isAnswered(first), syncs.held]).toEqual([false, 1]);
  const second = createKey("second");
  const third = createKey("third");
  expect([await isAnswered(second), syncs.held]).toEqual([false, 1]);
  syncs.end();
  expect([(await first).status, await isAnswered(second), syncs.held]).toEqual([200, false, 1]);
  syncs.end();
  expect([(await second).status, (await third).status, syncs.held]).toEqual([200, 200, 0]);
});

test("a read that has seen a change waits for its sync", async () => {
  const { syncs, createKey, keyNames, isAnswered } = await createHeld();
  const created = createKey("new");
  await isAnswered(created);
  const names = keyNames();
  expect(await isAnswered(names)).toBe(false);
  syncs.end();
  expect(await names).toContain("new");
});

test("after a sync that fails, the outcome of its changes is unknown, and later ones did not happen", async () => {
  const { syncs, createKey, keyNames, isAnswered } = await createHeld();
  const first = createKey("first");
  await isAnswered(first);
  const second = createKey("second");
  await isAnswered(second);
  syncs.failsAtOnce = true;
  syncs.end(IO_ERROR);
  expect((await first).body).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  expect((await second).body).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("nothing was changed"),
  });
  expect((await createKey("third")).status).toBe(503);
  syncs.failsAtOnce = false;
  const names = await keyNames();
  expect(names).toContain("first");
  expect(names).not.toContain("second");
  expect(names).not.toContain("third");
});

test("subscribers check a world again when it opens with a change whose outcome was unknown", async () => {
  const { double, syncs, createKey, keyNames, isAnswered } = await createHeld();
  const commits: number[] = [];
  const first = createKey("first");
  await isAnswered(first);
  onTestFinished(double.world.subscribe((events) => void commits.push(events.length)));
  syncs.failsAtOnce = true;
  syncs.end(IO_ERROR);
  expect((await first).body).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  expect((await createKey("second")).status).toBe(503);
  expect(commits).toEqual([]);
  syncs.failsAtOnce = false;
  expect(await keyNames()).toContain("first");
  // No events: the subscriber has to look by itself.
  await expect.poll(() => commits).toEqual([0]);
});

test("after a sync that fails, a log that can be written again loses nothing", async () => {
  const { syncs, createKey, isAnswered } = await createHeld();
  const first = createKey("first");
  await isAnswered(first);
  syncs.end(IO_ERROR);
  expect((await first).status).toBe(200);
});

test("a commit that cannot wait makes the change before it durable, which is answered and notified first", async () => {
  const { double, syncs, createKey, isAnswered } = await createHeld();
  const seen: number[] = [];
  onTestFinished(double.world.subscribe((events) => void seen.push(...events.map(({ seq }) => seq))));
  const first = createKey("first");
  await isAnswered(first);
  const second = createKey("second");
  await isAnswered(second);
  await double.world.advance({ by: 60_000 });
  expect([(await first).status, (await second).status, syncs.held]).toEqual([200, 200, 1]);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  syncs.end(IO_ERROR);
  expect(await isAnswered(createKey("third"))).toBe(false);
});

test("a change that the end of its world has made durable is notified before those after it", async () => {
  const { double, syncs, createKey, isAnswered } = await createHeld({ operations: "immediate" });
  const created = double.api("POST", "/projects", { project: { name: "shop" } });
  while (!(await isAnswered(created))) syncs.end();
  const seen: number[] = [];
  onTestFinished(double.world.subscribe((events) => void seen.push(...events.map(({ seq }) => seq))));
  const key = createKey("first");
  await isAnswered(key);
  const failing = () =>
    double.world.transact(({ execute }) => {
      execute({ type: "ResetWorld" });
      throw new Error("a bug");
    });
  expect(failing).toThrow("a bug");
  await double.world.advance({ by: 600_000 });
  expect([seen.length > 1, await isAnswered(key), syncs.held]).toEqual([true, true, 1]);
  syncs.end();
  expect((await key).status).toBe(200);
  expect(seen).toEqual(seen.map((_, index) => (seen[0] ?? 0) + index));
});

test("a read that depends on nothing that is being synced does not wait", async () => {
  const { double, syncs, createKey, isAnswered } = await createHeld();
  const creation = async (name: string) => {
    const created = double.api("POST", "/projects", { project: { name } });
    await isAnswered(created);
    syncs.end();
    await isAnswered(created);
    syncs.end();
    return (await created).body.project.id as string;
  };
  const [shop, other] = [await creation("shop"), await creation("other")];
  const read = (path: string) => double.api("GET", path);
  const renamed = double.api("PATCH", `/projects/${shop}`, { project: { name: "renamed" } });
  await isAnswered(renamed);
  const key = createKey("meanwhile");
  await isAnswered(key);
  expect(syncs.held).toBe(1);
  const paths = [
    `/projects/${other}`,
    `/projects/${other}/operations`,
    `/projects/${shop}`,
    "/projects",
    "/api_keys",
  ];
  const answers = paths.map(read);
  const answered = await Promise.all(answers.map(isAnswered));
  expect(answered).toEqual([true, true, false, false, false]);
  syncs.end();
  // The key is in the next commit, so only the list of keys waits for it.
  expect(await Promise.all(answers.map(isAnswered))).toEqual([true, true, true, true, false]);
  syncs.end();
  await Promise.all([...answers, renamed, key]);
});

test("the request log and views of the past wait for the commits before them, and sync nothing", async () => {
  const { double, syncs, createKey, isAnswered } = await createHeld();
  const { seq } = double.world.history();
  const first = createKey("first");
  await isAnswered(first);
  const second = createKey("second");
  await isAnswered(second);
  // Each sync on the thread would fail.
  syncs.failsAtOnce = true;
  const requests = double.sim("GET", "/requests");
  const view = double.world.viewAt({ seq: seq + 2 });
  expect(await Promise.all([requests, view].map(isAnswered))).toEqual([false, false]);
  const third = createKey("third");
  expect([await isAnswered(third), syncs.held]).toEqual([false, 1]);
  syncs.end();
  expect([(await first).status, ...(await Promise.all([requests, view].map(isAnswered)))]).toEqual([
    ...[200, false, false],
  ]);
  syncs.end();
  await Promise.all([second, third]);
  expect([(await requests).body.requests.length, (await view).ok, syncs.held]).toEqual([3, true, 0]);
  expect(await view).toMatchObject({ value: { head: { seq: seq + 2 } } });
});

test("a list of operations contains those that are not committed, and syncs nothing", async () => {
  const { double, syncs, isAnswered, durably } = await createHeld({ operations: "immediate" });
  const created = await durably(double.api("POST", "/projects", { project: { name: "shop" } }));
  const { project, endpoints } = created.body;
  const idsOf = async (
    answer: Promise<{ readonly body: { readonly operations: readonly { id: string }[] } }>,
  ) => (await answer).body.operations.map(({ id }) => id);
  const change = (verb: string) =>
    double.api("POST", `/projects/${project.id}/endpoints/${endpoints[0]?.id}/${verb}`);
  const list = (limit: number) => double.api("GET", `/projects/${project.id}/operations?limit=${limit}`);
  const before = await idsOf(durably(list(100)));
  const suspended = change("suspend");
  await isAnswered(suspended);
  const started = change("start");
  await isAnswered(started);
  const lists = [list(100), list(2), list(1)];
  expect(await Promise.all([suspended, started, ...lists].map(isAnswered))).toEqual(Array(5).fill(false));
  expect(syncs.held).toBe(1);
  syncs.end();
  expect(await Promise.all([suspended, started, ...lists].map(isAnswered))).toEqual([
    true,
    ...Array(4).fill(false),
  ]);
  syncs.end();
  const all = [...(await idsOf(started)).toReversed(), ...(await idsOf(suspended)).toReversed(), ...before];
  expect(await Promise.all(lists.map(idsOf))).toEqual([all, all.slice(0, 2), all.slice(0, 1)]);
  expect(await idsOf(durably(list(100)))).toEqual(all);
});

test("consumption and explanations see events that are not committed, and sync nothing", async () => {
  const { double, syncs, isAnswered, durably } = await createHeld();
  const { project, endpoints } = (await durably(double.api("POST", "/projects", { project: {} }))).body;
  await durably(double.advance("1h"));
  const { accounts } = (await durably(double.sim("GET", "/accounts"))).body;
  const { seq } = double.world.history();
  const change = (plan: string) => double.sim("PATCH", `/accounts/${accounts[0]?.id}`, { plan });
  const free = change("free");
  await isAnswered(free);
  // The body is read first, so the start is decided before the change.
  const paid = change("paid");
  const started = double.api("POST", `/projects/${project.id}/endpoints/${endpoints[0]?.id}/start`);
  expect(await Promise.all([paid, started].map(isAnswered))).toEqual([false, false]);
  // Each sync on the thread would fail.
  syncs.failsAtOnce = true;
  const day = "from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&granularity=daily";
  const usage = double.api("GET", `/consumption_history/account?${day}`);
  const explanation = double.sim("GET", `/explain/endpoints/${endpoints[0]?.id}`);
  expect(await Promise.all([usage, explanation].map(isAnswered))).toEqual([false, false]);
  expect(syncs.held).toBe(1);
  syncs.end();
  expect(await Promise.all([free, usage, explanation].map(isAnswered))).toEqual([true, false, false]);
  syncs.end();
  await Promise.all([paid, started]);
  expect([(await usage).status, syncs.held]).toEqual([200, 0]);
  const { events } = (await explanation).body;
  expect(events.at(-1)).toMatchObject({ type: "OperationScheduled", seq: seq + 2 });
});

test("operations after a reset are those since then, before it is committed too", async () => {
  const { double, syncs, createKey, isAnswered, durably } = await createHeld();
  const { project, operations } = (await durably(double.api("POST", "/projects", { project: {} }))).body;
  await durably(double.advance("1h"));
  const key = createKey("first");
  await isAnswered(key);
  syncs.failsAtOnce = true;
  const seen = double.world.transact((transaction) => {
    transaction.execute({ type: "ResetWorld" });
    const listed = transaction.operations(project.id, 10);
    return [listed, operations.map(({ id }) => transaction.operation(id))];
  });
  syncs.end();
  await isAnswered(key);
  syncs.end();
  expect(await seen).toEqual([[], operations.map(() => undefined)]);
});
