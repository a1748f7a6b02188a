import { describe, expect, test } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint, worldFromCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { DiscardingJournal } from "../../../src/simulation/discarding-journal.ts";
import { foldOperation, isTerminal } from "../../../src/simulation/fold-operation.ts";
import type { Batch } from "../../../src/simulation/journal.ts";
import { MemoryJournal } from "../../../src/simulation/memory-journal.ts";
import { replay, resolvePoint, worldAt } from "../../../src/simulation/replay.ts";
import { PendingRequests } from "../../../src/simulation/request-log.ts";
import { MAIN, restartMain, SHOP, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { type CommandOf, HOUR, MINUTE, NOW, SECOND } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const clock = { mode: "manual", factor: 0, simAnchor: 0, wallAnchor: 0 } as const;
const query: CommandOf<"RecordActivity"> = {
  type: "RecordActivity",
  activity: { endpointId: "ep-main", kind: "query" },
};
const batch = (fields: Partial<Batch> = {}): Batch => ({
  events: [],
  changes: [],
  settings: emptyWorld().settings,
  numbers: emptyWorld().numbers,
  clock,
  now: 0,
  ...fields,
});
const request = (number: number, at = number) => ({ number, at, text: JSON.stringify({ number, at }) });

describe("the journal in memory", () => {
  test("returns events after a number, up to a limit", () => {
    const { journal, events } = new SimulatedWorld(worldWithProject());
    expect(journal.head).toBe(events.length);
    expect(journal.events(0, 2).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(journal.events(3, 1).map(({ seq }) => seq)).toEqual([4]);
    expect(journal.events(events.length, 5)).toEqual([]);
    expect(journal.events(0, 1_000)).toEqual(events);
    expect(journal.sizeBytes()).toBe(0);
    expect(journal.prune()).toBe(true);
    expect(() => journal.settleFailedWrite()).not.toThrow();
  });

  test("returns the events about an id, newest first", () => {
    const { journal, events } = new SimulatedWorld(worldWithProject()).run(query, { ms: MINUTE }, query);
    const about = (before: number, limit: number, filter?: Parameters<MemoryJournal["eventsAbout"]>[3]) =>
      journal.eventsAbout("ep-main", before, limit, filter).map(({ type, seq }) => [type, seq]);
    const last = events.length;
    expect(about(last + 1, 2)).toEqual([
      ["ActivityRecorded", last],
      ["ActivityRecorded", last - 1],
    ]);
    expect(about(last, 1)).toEqual([["ActivityRecorded", last - 1]]);
    expect(about(1_000, 1)).toEqual([["ActivityRecorded", last]]);
    expect(about(last + 1, 1_000, "lifecycle").map(([type]) => type)).not.toContain("ActivityRecorded");
    expect(about(last + 1, 1_000, "lifecycle").map(([type]) => type)).toContain("ComputeActivated");
    expect(about(last + 1, 1_000, "ComputeActivated")).toHaveLength(1);
    expect(journal.eventsAbout("ep-unknown", last + 1, 10)).toEqual([]);
    expect(about(1, 10)).toEqual([]);
  });

  test("returns the operations of a project, newest first", () => {
    const { journal } = new SimulatedWorld(worldWithProject(), restartMain);
    const numbers = (projectId: string, limit: number, before?: number) =>
      journal.operations(projectId, limit, before).map(({ number, state }) => [number, state.status]);
    expect(numbers("shop", 10)).toEqual([
      [4, "scheduling"],
      [3, "running"],
      [2, "finished"],
      [1, "finished"],
    ]);
    expect(numbers("shop", 1)).toEqual([[4, "scheduling"]]);
    expect(numbers("shop", 10, 2)).toEqual([[1, "finished"]]);
    expect(numbers("blog", 10)).toEqual([]);
    const [newest] = journal.operations("shop", 1);
    expect(journal.operation(newest?.id ?? "")).toEqual(newest);
    expect(journal.operation("unknown")).toBeUndefined();
  });

  test("a reset deletes the operations", () => {
    const { journal } = new SimulatedWorld(worldWithProject(), { type: "ResetWorld" });
    expect(journal.operations("shop", 10)).toEqual([]);
  });

  test("stores rows outside history: the newest of each, until it is deleted or its table is emptied", () => {
    const journal = new MemoryJournal();
    const change = (table: string, key: string, value: unknown) => ({ table, key, value });
    journal.write(
      batch({
        changes: [change("secrets", "a", { id: "a", value: "1" }), change("apiKeyUses", "7", { keyId: 7 })],
      }),
    );
    journal.write(
      batch({
        changes: [
          change("secrets", "a", { id: "a", value: "2" }),
          change("secrets", "b", { id: "b", value: "3" }),
        ],
      }),
    );
    expect(journal.unjournaledRows("secrets")).toEqual([
      { id: "a", value: "2" },
      { id: "b", value: "3" },
    ]);
    const world = emptyWorld();
    journal.loadUnjournaledRows(world);
    expect(world.secrets.get("a")).toEqual({ id: "a", value: "2" });
    expect(world.changes.list).toEqual([]);
    journal.write(batch({ changes: [change("secrets", "a", undefined)] }));
    expect(journal.unjournaledRows("secrets")).toEqual([{ id: "b", value: "3" }]);
    journal.write(batch({ changes: [change("secrets", "*", undefined)] }));
    expect(journal.unjournaledRows("secrets")).toEqual([]);
    expect(journal.unjournaledRows("apiKeyUses")).toEqual([{ keyId: 7 }]);
  });

  test("stores the clock of the last write", () => {
    const journal = new MemoryJournal();
    expect(journal.clock).toBeUndefined();
    journal.write(batch({ now: 5 }));
    expect(journal.clock).toEqual({ state: clock, now: 5 });
  });

  test("retains the newest requests", () => {
    const journal = new MemoryJournal();
    expect(journal.newestRequest).toBe(0);
    for (const number of [1, 2, 3, 4, 5])
      journal.write(batch({ requests: { add: [request(number)], limit: 3 } }));
    const numbers = (since: number, limit: number) =>
      journal.requests(since, limit).map(({ number }) => number);
    expect(journal.newestRequest).toBe(5);
    expect(numbers(0, 10)).toEqual([3, 4, 5]);
    expect(numbers(0, 2)).toEqual([3, 4]);
    expect(numbers(3, 10)).toEqual([4, 5]);
    expect(numbers(5, 10)).toEqual([]);
    journal.write(batch({ requests: { add: [request(6)], limit: 3 } }));
    expect(numbers(0, 10)).toEqual([4, 5, 6]);
    journal.clearRequests();
    expect(numbers(0, 10)).toEqual([]);
    expect(journal.newestRequest).toBe(0);
  });

  test("truncates events, and operations that ended before an instant (exclusive)", () => {
    const { journal, world, events } = new SimulatedWorld(worldWithProject()).run(restartMain, {
      ms: MINUTE,
    });
    const head = events.length;
    void journal.storeCheckpoint(takeCheckpoint(world));
    const ended = journal.operations("shop", 10).map(({ number, updatedAt }) => [number, updatedAt] as const);
    const thirdEnded = ended.find(([number]) => number === 3)?.[1] ?? 0;
    journal.truncate({ eventsUpTo: head, operationsBefore: thirdEnded });
    expect(journal.oldest).toMatchObject({ seq: head });
    expect(journal.events(0, 10)).toEqual([]);
    expect(journal.head).toBe(head);
    expect(journal.operations("shop", 10).map(({ number }) => number)).toEqual([4, 3]);
    journal.truncate({ eventsUpTo: head, operationsBefore: thirdEnded + 1 });
    expect(journal.operations("shop", 10).map(({ number }) => number)).toEqual([4]);
  });

  test("has checkpoints, the newest of which at or before a point is the nearest", () => {
    const simulated = new SimulatedWorld(worldWithProject());
    const { journal } = simulated;
    const store = (seq: number, at: number) => {
      void journal.storeCheckpoint({ ...takeCheckpoint(simulated.world), seq, at });
    };
    expect(journal.newestCheckpoint).toMatchObject({ seq: 0, at: 0 });
    store(6, NOW + 6);
    store(3, NOW + 3);
    expect(journal.newestCheckpoint).toMatchObject({ seq: 6 });
    const seqBefore = (point: { seq: number } | { at: number }) =>
      journal.checkpointPositionBefore(point).seq;
    expect([2, 3, 5, 6, 9].map((seq) => seqBefore({ seq }))).toEqual([0, 3, 3, 6, 6]);
    expect([2, 3, 5, 6, 9].map((ms) => seqBefore({ at: NOW + ms }))).toEqual([0, 3, 3, 6, 6]);
    expect(seqBefore({ at: -1 })).toBe(0);
  });

  test("with a limit retains at least so many of the newest events, back to a checkpoint", async () => {
    const { world, events } = new SimulatedWorld(worldWithProject(), restartMain);
    const journal = new MemoryJournal({ limit: 4 });
    expect(journal.eventsPerCheckpoint).toBe(4);
    expect(new MemoryJournal().eventsPerCheckpoint).toBeUndefined();
    expect(new MemoryJournal({ limit: 100_000 }).eventsPerCheckpoint).toBe(50_000);
    journal.write(batch({ events }));
    const head = events.length;
    const at = (seq: number) => ({ ...takeCheckpoint(world), seq });
    await journal.storeCheckpoint(at(head - 3));
    expect(journal.oldest.seq).toBe(0);
    await journal.storeCheckpoint(at(head - 4));
    expect(journal.oldest.seq).toBe(head - 4);
    expect(journal.events(0, 100)).toEqual(events.slice(-4));
    expect(journal.head).toBe(head);
    // Unfinished operations are in the checkpoint.
    expect(journal.operations("shop", 10).map(({ number }) => number)).toEqual([4, 3]);
  });

  test("a copy ends after an event, and has a history of its own", () => {
    const simulated = new SimulatedWorld(worldWithProject(), restartMain);
    const { journal, events } = simulated;
    journal.write(batch({ now: 50, requests: { add: [request(1, 40), request(2, 60)], limit: 3 } }));
    const copy = journal.copy(3);
    expect(copy.events(0, 100)).toEqual(events.slice(0, 3));
    expect(copy.head).toBe(3);
    expect(copy.clock).toEqual(journal.clock);
    expect(copy.requests(0, 10).map(({ number }) => number)).toEqual([1]);
    copy.write(batch({ events: events.slice(3) }));
    expect(copy.head).toBe(events.length);
    expect(copy.operations("shop", 10)).toEqual(journal.operations("shop", 10));
    expect(journal.copy(0).events(0, 10)).toEqual([]);
  });

  test("a copy has no uses of keys after its clock, and no data of branches that did not exist", () => {
    const { journal } = new SimulatedWorld(worldWithProject());
    const row = (table: string, key: string, value: unknown) => ({ table, key, value });
    const volume = { volumeId: "v", at: 10, lsn: "0/10", writes: true };
    journal.write(
      batch({
        now: 100,
        changes: [
          row("apiKeyUses", "1", { keyId: 1, lastUsedAt: 50 }),
          row("apiKeyUses", "2", { keyId: 2, lastUsedAt: 51 }),
          row("secrets", "role-1", { id: "role-1", value: "x" }),
          row("branchData", "br-main", { id: "br-main", ...volume }),
          row("branchData", "br-gone", { id: "br-gone", ...volume }),
        ],
      }),
    );
    const past = emptyWorld();
    past.branches.set({ id: "br-main", projectId: "shop", name: "main", default: true } as never);
    const copy = journal.copy(3, { state: clock, now: 50 }, past);
    expect(copy.unjournaledRows("apiKeyUses")).toEqual([{ keyId: 1, lastUsedAt: 50 }]);
    expect(copy.unjournaledRows("secrets")).toHaveLength(1);
    expect(copy.unjournaledRows("branchData")).toEqual([
      { id: "br-main", volumeId: "v", at: 50, lsn: "0/10", past: [{ ...volume, until: 50 }] },
    ]);
    const sameClock = journal.copy(3);
    expect(sameClock.unjournaledRows("branchData")).toEqual([
      { id: "br-main", ...volume },
      { id: "br-gone", ...volume },
    ]);
    expect(sameClock.unjournaledRows("apiKeyUses")).toHaveLength(2);
  });
});

test.each([
  ["scheduling", false],
  ["running", false],
  ["finished", true],
  ["failed", true],
  ["cancelled", true],
] as const)("an operation that is %s has ended: %s", (status, expected) => {
  expect(isTerminal({ status } as Parameters<typeof isTerminal>[0])).toBe(expected);
});

test("folding an event that concerns no operation changes none", () => {
  const operations = new Map();
  foldOperation(operations, { type: "BranchDeleted", at: 1, seq: 1, decision: 1, branchId: "b" });
  expect(operations.size).toBe(0);
});

describe("a journal that discards events", () => {
  test("has the position of the last one, and no past", () => {
    const { events } = new SimulatedWorld(worldWithProject());
    const journal = new DiscardingJournal();
    expect(journal.head).toBe(0);
    journal.write(batch({ events }));
    journal.write(batch());
    const last = events.at(-1);
    expect(journal.head).toBe(last?.seq);
    expect(journal.oldest).toMatchObject({ seq: last?.seq, at: last?.at });
    expect(journal.newestCheckpoint).toMatchObject({ seq: last?.seq });
    expect(journal.events(0, 10)).toEqual([]);
    expect(journal.eventsPerCheckpoint).toBe(Number.POSITIVE_INFINITY);
    expect(() => journal.checkpointBefore()).toThrow(`history up to event ${last?.seq} was not stored`);
  });
});

describe("a point in history", () => {
  const simulated = new SimulatedWorld(worldWithProject()).run({ ms: MINUTE }, restartMain, { ms: HOUR });
  const { journal, events } = simulated;
  const head = { seq: events.length, at: simulated.now };
  const resolve = (point: { seq: number } | { at: number }, from = journal) =>
    resolvePoint(from, point, head);
  const decisionOf = (type: string) =>
    events.filter((event) => event.type === type).map(({ seq, decision }) => [seq, decision]);
  const endOf = (decision: number) => events.findLast((event) => event.decision === decision)?.seq;

  test("is the end of a decision, never within it", () => {
    const [created] = decisionOf("ProjectCreated");
    const [seq = 0, decision = 0] = created ?? [];
    const end = endOf(decision) ?? 0;
    expect(end).toBeGreaterThan(seq);
    expect(resolve({ seq })).toEqual({ ok: true, value: { seq: end, at: NOW - 10 * SECOND } });
    expect(resolve({ seq: end })).toMatchObject({ ok: true, value: { seq: end } });
    expect(resolve({ seq: seq - 1 })).toMatchObject({ ok: true, value: { seq: seq - 1 } });
  });

  test("at an instant is after the last event of that instant", () => {
    const lastBefore = (at: number) => events.findLast((event) => event.at <= at)?.seq;
    for (const at of [NOW - 10 * SECOND, NOW, NOW + MINUTE - 1, NOW + MINUTE, NOW + MINUTE + 1, head.at])
      expect(resolve({ at })).toEqual({ ok: true, value: { seq: lastBefore(at), at } });
  });

  test("is refused in the future and before the world", () => {
    expect(resolve({ seq: head.seq + 1 })).toMatchObject({
      ok: false,
      refusal: {
        code: "POINT_NOT_REACHED",
        message: `this point is in the future: history ends at event ${head.seq}`,
      },
    });
    expect(resolve({ seq: head.seq })).toMatchObject({ ok: true, value: { seq: head.seq } });
    expect(resolve({ at: head.at + 1 })).toMatchObject({ ok: false, refusal: { code: "POINT_NOT_REACHED" } });
    for (const point of [{ seq: 0 }, { at: NOW - HOUR }])
      expect(resolve(point)).toMatchObject({
        ok: false,
        refusal: {
          code: "HISTORY_FORGOTTEN",
          message: "this point is before event 1, which created the world",
        },
      });
  });

  test("is refused before truncated history, and allowed at its end", () => {
    const copy = journal.copy(head.seq);
    const world = replay(copy.events(0, 5));
    void copy.storeCheckpoint(takeCheckpoint(world));
    copy.truncate({ eventsUpTo: 5, operationsBefore: 0 });
    expect(resolve({ seq: 4 }, copy)).toMatchObject({
      ok: false,
      refusal: {
        code: "HISTORY_FORGOTTEN",
        message: expect.stringMatching(/^history before event 5 was truncated; event 5/),
      },
    });
    expect(resolve({ seq: 5 }, copy)).toEqual({ ok: true, value: { seq: 5, at: world.at } });
    expect(resolve({ at: world.at - 1 }, copy)).toMatchObject({ ok: false });
    expect(resolve({ at: world.at }, copy)).toMatchObject({ ok: true });
  });

  test("has the world that the events up to it replay to", async () => {
    const folded: number[] = [];
    const past = await worldAt(journal, 5, async (count) => {
      folded.push(count);
    });
    expect(folded).toEqual([5]);
    expect(takeCheckpoint(past)).toEqual(takeCheckpoint(replay(events.slice(0, 5))));
    await expect(worldAt(journal, head.seq + 1, async () => undefined)).rejects.toThrow(
      `history ends at event ${head.seq}, before event ${head.seq + 1}`,
    );
  });

  test("far from a checkpoint is rebuilt in portions of 500 events", async () => {
    const many = new SimulatedWorld(worldWithProject());
    while (many.events.length < 1_100) many.run(query);
    const folded: number[] = [];
    const world = await worldAt(many.journal, 1_100, async (count) => {
      folded.push(count);
    });
    expect(folded).toEqual([500, 1_000, 1_100]);
    expect(world.seq).toBe(1_100);
  });

  test("a decision of many events has one end", () => {
    const branches = Array.from(
      { length: 40 },
      (_, number): CommandOf<"CreateBranch"> => ({
        type: "CreateBranch",
        ...SHOP,
        id: `br-${number}`,
        queue: true,
      }),
    );
    const large = new SimulatedWorld(worldWithProject()).run(
      branches,
      { ms: HOUR },
      { type: "DeleteProject", ...SHOP },
      { ms: HOUR * 24 * 7 },
    );
    const removed = large.last("ProjectRemoved");
    const first = large.events.find(({ decision }) => decision === removed?.decision);
    expect((removed?.seq ?? 0) - (first?.seq ?? 0)).toBeGreaterThan(40);
    expect(
      resolvePoint(large.journal, { seq: first?.seq ?? 0 }, { seq: large.events.length, at: large.now }),
    ).toMatchObject({ ok: true, value: { seq: removed?.seq } });
  });
});

test("a checkpoint is the world without the rows outside history", () => {
  const { world } = new SimulatedWorld(worldWithProject()).run({ type: "CreateSnapshot", ...MAIN }, query, {
    ms: HOUR,
  });
  const loaded = worldFromCheckpoint(takeCheckpoint(world));
  expect(takeCheckpoint(loaded)).toEqual(takeCheckpoint(world));
  expect(loaded).toMatchObject({
    seq: world.seq,
    at: world.at,
    numbers: world.numbers,
    settings: world.settings,
  });
  expect(loaded.computes.toArray()).toEqual(world.computes.toArray());
  expect(loaded.branchSnapshots.size).toBe(1);
  expect(worldFromCheckpoint({ ...takeCheckpoint(world), tables: {} }).computes.size).toBe(0);
});

describe("answered requests that are not written yet", () => {
  const entry = (path: string, body?: unknown) => ({
    requestId: "r",
    method: "GET",
    path,
    body,
  });

  test("have numbers from the newest on, and are written once", () => {
    const pending = new PendingRequests(10, 7);
    expect(pending.isEmpty).toBe(true);
    expect(pending.take()).toBeUndefined();
    pending.append(5, 1, entry("/a"));
    pending.append(5, 1, entry("/b"));
    expect([pending.isEmpty, pending.newest]).toEqual([false, 9]);
    const taken = pending.take();
    expect(taken).toMatchObject({ add: [{ number: 8, at: 5 }, { number: 9 }], limit: 10 });
    expect(JSON.parse(taken?.add[0]?.text ?? "")).toEqual({ number: 8, at: 5, seq: 1, ...entry("/a") });
    expect(pending.isEmpty).toBe(true);
    pending.append(5, 1, entry("/c"));
    pending.clear();
    expect([pending.isEmpty, pending.newest]).toEqual([true, 0]);
  });

  test("have the text of their fields, whatever the entries of the same path before them were", () => {
    const entries = [
      { ...entry("/a"), requestId: '"\\' },
      { ...entry("/a"), status: 200 },
      { ...entry("/a"), status: 200, accountId: "a", keyId: 1 },
      { ...entry("/a"), status: 200, accountId: "a", keyId: 2 },
      { ...entry("/a"), status: 423, code: "LOCKED", fault: "f", operationId: "o" },
      { ...entry("/a"), method: "HEAD" },
      entry("/a", "body"),
      ...Array.from({ length: 300 }, (_, number) => entry(`/${number % 150}`)),
    ];
    const pending = new PendingRequests(1_000, 0);
    for (const described of entries) pending.append(5, 1, described);
    expect(pending.take()?.add.map(({ text }) => text)).toEqual(
      entries.map((described, index) => JSON.stringify({ number: index + 1, at: 5, seq: 1, ...described })),
    );
  });

  test("beyond the limit are dropped, oldest first", () => {
    const pending = new PendingRequests(3, 0);
    for (let number = 1; number <= 8; number += 1) pending.append(5, 1, entry(`/${number}`));
    expect(pending.take()?.add.map(({ number }) => number)).toEqual([6, 7, 8]);
  });

  test("that are too large are stored without their body", () => {
    const pending = new PendingRequests(3, 0);
    const overhead = JSON.stringify({ number: 1, at: 5, seq: 1, ...entry("/a", "") }).length;
    pending.append(5, 1, entry("/a", "x".repeat(32 * 1024 - overhead)));
    pending.append(5, 1, entry("/a", "x".repeat(32 * 1024 - overhead + 1)));
    const bodies = pending.take()?.add.map(({ text }) => (JSON.parse(text) as { body: unknown }).body);
    expect(bodies?.[0]).toHaveLength(32 * 1024 - overhead);
    expect(bodies?.[1]).toEqual({ not_kept: "too large" });
  });
});
