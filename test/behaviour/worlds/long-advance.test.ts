import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { DAY, HOUR, MINUTE } from "../../../src/kernel/time.ts";
import type { SteppedWrite } from "../../../src/simulation/journal.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { EVENTS_PER_TURN } from "../../../src/worlds/hosted/advance-readers.ts";
import type { OpenHistory } from "../../../src/worlds/world-storage.ts";
import { createDouble, createProject, type Double, START } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS, verify } from "../../support/double/storage-double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const STARTS = 2_000;
/** The end of the last suspend, as a duration from the start. */
const END = { by: STARTS * HOUR + DAY };

/** A compute that starts every hour, for more events than fit into two commits. */
async function createBusyCompute(double: Double): Promise<void> {
  const { endpointId } = await createProject(double);
  await double.world.transact(({ execute }) => {
    for (let start = 1; start <= STARTS; start += 1)
      execute({
        type: "ScheduleActivity",
        at: START + start * HOUR,
        activity: { endpointId, kind: "query", durationMs: MINUTE },
      });
  });
}

test.each(STORAGE_KINDS)("%s: others get a turn every few milliseconds of a long advance", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  await createBusyCompute(double);
  const before = double.world.history().seq;
  let turns = 0;
  let isOver = false;
  const countTurns = () => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const seen = new Set<number>();
  const watch = setInterval(() => seen.add(double.world.history().seq), 1);
  await double.world.advance(END);
  isOver = true;
  clearInterval(watch);
  const events = double.world.history().seq - before;
  expect(events).toBeGreaterThan(10_000);
  expect(turns).toBeGreaterThan(events / 500);
  // Only what is committed is seen: whole portions, which in memory are turns.
  expect(seen.size).toBeLessThanOrEqual(2 + events / (kind === "in memory" ? EVENTS_PER_TURN : 5_000));
  for (const { ok } of await kept.verify("default")) expect(ok).toBe(true);
});

test.each(STORAGE_KINDS)(
  "%s: reads see a commit of a long advance, and changes wait for its end",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createBusyCompute(double);
    const twin = await createDouble();
    await createBusyCompute(twin);
    const end = START + END.by;
    let isOver = false;
    const advance = double.world.advance(END).then(() => {
      isOver = true;
    });
    const change = double.api("POST", "/projects", { project: { name: "later" } }).then(() => isOver);
    // It executes a command, so it begins again after the end.
    const late = double.world.read(({ now, execute }) => {
      execute({ type: "CreateAccount", name: "late" });
      return now;
    });
    const instants: number[] = [];
    for (;;) {
      const { body } = await double.api("GET", "/projects");
      const seen = await double.world.read(({ world, now }) => ({
        ...{ now, seq: world.seq, isLast: now >= end },
        committed: double.world.history().seq,
      }));
      if (isOver || seen.isLast) break;
      expect(seen.seq).toBe(seen.committed);
      expect(body.projects.map(({ name }) => name)).not.toContain("later");
      instants.push(seen.now);
    }
    await advance;
    expect(await change).toBe(true);
    expect(await late).toBeGreaterThanOrEqual(end);
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(new Set(instants).size).toBeGreaterThan(3);
    const ofAdvance = await eventsAfter(twin);
    expect((await double.world.events(0, Number.MAX_SAFE_INTEGER)).slice(0, ofAdvance.length)).toEqual(
      ofAdvance,
    );
  },
);

test("reads are answered between two steps of a check, and changes wait for its end", async () => {
  const double = await createDouble();
  await createProject(double);
  let isOver = false;
  const check = double.world
    .inspect(function* (world) {
      const before = world.seq;
      for (let step = 0; step < 1_000; step += 1) yield undefined;
      return world.seq - before;
    })
    .finally(() => {
      isOver = true;
    });
  const change = double.api("POST", "/projects", { project: { name: "later" } }).then(() => isOver);
  const read = await double.api("GET", "/projects");
  expect([isOver, read.body.projects.length]).toEqual([false, 1]);
  expect([await check, await change]).toEqual([0, true]);
  expect((await double.sim("GET", "/invariants")).body).toMatchObject({ ok: true, violations: [] });
});

test.each(STORAGE_KINDS)(
  "%s: a list and a check of the whole world see a commit of a long advance",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    // More than are listed in one step.
    for (let count = 0; count < 101; count += 1)
      await double.api("POST", "/projects", { project: { name: `p${count}` } });
    await createBusyCompute(double);
    const end = START + END.by;
    let isOver = false;
    const advance = double.world.advance(END).finally(() => {
      isOver = true;
    });
    await double.api("GET", "/projects");
    const listed = await double.sim("GET", "/endpoints");
    const checked = await double.sim("GET", "/invariants");
    const seen = await double.world.inspect(function* (world, now) {
      const { seq } = world;
      const committed = double.world.history().seq;
      for (let step = 0; step < 100; step += 1) yield undefined;
      return { now, seq, committed, later: world.seq };
    });
    expect(isOver).toBe(false);
    await advance;
    expect(listed.body.endpoints).toHaveLength(102);
    expect(Date.parse(listed.body.now)).toBeGreaterThan(START);
    expect(Date.parse(listed.body.now)).toBeLessThan(seen.now);
    expect(seen.now).toBeLessThan(end);
    expect(checked.body).toMatchObject({ ok: true, violations: [] });
    expect([seen.committed, seen.later]).toEqual([seen.seq, seen.seq]);
  },
);

test.each(STORAGE_KINDS)("%s: what is stored of a world is read during a long advance", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createBusyCompute(double);
  const { seq, at } = await double.world.read(({ world }) => ({ seq: world.seq, at: world.at }));
  const before = (await double.sim("GET", `/state?at=${seq}`)).body;
  let isOver = false;
  const advance = double.world.advance(END).finally(() => {
    isOver = true;
  });
  await double.api("GET", "/projects");
  const unfinished: string[] = [];
  const read = async (path: `/${string}`) => {
    const answer = await double.sim("GET", path);
    if (!isOver) unfinished.push(path);
    return answer;
  };
  const past = await read(`/state?at=${seq}`);
  const future = await read(`/state?at=${new Date(START + END.by - DAY).toISOString()}`);
  const state = await read("/state?fields=endpoints,hourly_usage");
  const requests = await read("/requests");
  const timeline = await read("/timeline");
  const events = await read(`/events?since=${seq}&limit=10000`);
  const { seq: committed } = double.world.history();
  expect(unfinished).toHaveLength(6);
  await advance;
  expect(past.body).toEqual(before);
  expect(past.body.at).toBe(new Date(at).toISOString());
  expect(state.body.seq).toBeGreaterThan(seq);
  expect([future.status, future.body.message]).toEqual([
    422,
    expect.stringMatching(/^at: this point is in the future: history ends at event \d+$/),
  ]);
  expect(Date.parse(timeline.body.now)).toBeLessThan(START + END.by);
  const last = events.body.events.at(-1);
  expect(last.seq).toBeGreaterThan(seq);
  expect(last.seq).toBeLessThanOrEqual(committed);
  expect(requests.body.requests.map(({ path }: { path: string }) => path)).toContain("/api/v2/projects");
  // What was answered has happened.
  const all = (await double.sim("GET", `/events?since=${seq}&limit=10000`)).body.events;
  expect(all.slice(0, events.body.events.length)).toEqual(events.body.events);
});

test("an advance goes on while the world is inspected again and again", async () => {
  const double = await createDouble();
  await createBusyCompute(double);
  let isOver = false;
  const advance = double.world.advance(END).finally(() => {
    isOver = true;
  });
  const seqs: number[] = [];
  for (;;) {
    const seq = await double.world.inspect(function* (world) {
      yield undefined;
      return world.seq;
    });
    if (isOver) break;
    seqs.push(seq);
  }
  await advance;
  expect(seqs.length).toBeGreaterThan(1);
  const simulated = seqs.slice(1).map((seq, index) => seq - (seqs[index] ?? 0));
  expect(Math.min(...simulated)).toBeGreaterThanOrEqual(5_000);
});

test("an inspection that throws does not end the advance that has paused for it", async () => {
  const double = await createDouble();
  await createBusyCompute(double);
  const end = double.world.now() + END.by;
  const advance = double.world.advance({ to: end });
  const broken = double.world.inspect(function* () {
    yield undefined;
    throw new Error("broken");
  });
  await expect(broken).rejects.toThrow("broken");
  expect((await advance)?.now).toBe(end);
});

/** Storage whose worlds call `step` before each step of a commit. */
class InterruptedDirectory extends DataDirectory {
  beforeStep: (step: number) => unknown = () => undefined;
  #steps = 0;

  override history(world: string): OpenHistory {
    const open = super.history(world);
    return () => {
      const history = open();
      const begin = history.journal.beginWrite?.bind(history.journal);
      history.journal.beginWrite = (batch) => this.#interrupted(begin?.(batch) as SteppedWrite);
      return history;
    };
  }

  #interrupted(write: SteppedWrite): SteppedWrite {
    return {
      get hasEnded() {
        return write.hasEnded;
      },
      get isDurable() {
        return write.isDurable;
      },
      step: () => {
        this.#steps += 1;
        this.beforeStep(this.#steps);
        return write.step();
      },
      durable: () => write.durable(),
    };
  }
}

async function createInterrupted() {
  const { path, remove } = temporaryDirectory();
  const storage = new InterruptedDirectory(path, MIGRATIONS_FOLDER);
  const double = await createDouble({ storage });
  onTestFinished(async () => {
    await double.close();
    storage.release();
    remove();
  });
  await createBusyCompute(double);
  return { double, storage, file: join(path, "worlds", "default.sqlite") };
}

async function eventsAfter(double: Double): Promise<readonly unknown[]> {
  await double.world.advance(END);
  return double.world.events(0, Number.MAX_SAFE_INTEGER);
}

test("an advance whose commit fails between two steps has reached the commit before it", async () => {
  const { double, storage, file } = await createInterrupted();
  const twin = await createDouble();
  await createBusyCompute(twin);
  const committed = double.world.history().seq;
  let reached = committed;
  storage.beforeStep = (step) => {
    reached = double.world.history().seq;
    if (reached > committed && step % 4 === 0) throw new Error("disk I/O error");
  };
  const { status, body } = await double.sim("POST", "/clock/advance", { by: `${END.by / HOUR}h` });
  expect([status, body.code]).toEqual([503, "STORE_UNAVAILABLE"]);
  expect(body.message).toContain("disk I/O error; the clock was advanced to 2026-");
  storage.beforeStep = () => undefined;
  const events = await double.world.events(0, Number.MAX_SAFE_INTEGER);
  expect(events.length).toBe(reached);
  expect(body.message).toContain(new Date(double.world.now()).toISOString());
  const end = START + END.by;
  await double.world.advance({ to: end });
  expect(await double.world.events(0, Number.MAX_SAFE_INTEGER)).toEqual(await eventsAfter(twin));
  expect(await verify(file)).toMatchObject({ ok: true });
});

test("what else is asked of the world between two steps finds the commit complete", async () => {
  const { double, storage, file } = await createInterrupted();
  const asked: Promise<unknown>[] = [];
  const requests = [
    () => double.sim("GET", "/health"),
    () => double.sim("GET", "/metrics"),
    () => double.sim("POST", "/snapshots", { name: `s${asked.length}` }),
    () => double.sim("GET", "/events?limit=1"),
    () => double.sim("POST", "/compact", { keep: "1h" }),
    () => double.sim("POST", "/worlds", { name: `f${asked.length}`, from: "default" }),
    () => double.api("GET", "/projects"),
  ];
  storage.beforeStep = (step) => {
    const request = step % 5 === 0 ? requests[asked.length] : undefined;
    if (request !== undefined) asked.push(request());
  };
  await double.world.advance(END);
  storage.beforeStep = () => undefined;
  const answers = (await Promise.all(asked)) as { status: number }[];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 200, 200, 201, 200]);
  expect(await verify(file)).toMatchObject({ ok: true });
});
