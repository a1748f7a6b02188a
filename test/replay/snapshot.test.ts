import fc from "fast-check";
import { expect, test } from "vitest";
import { journalOf } from "../support/double/call-log.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, STORAGE_KINDS } from "../support/double/storage-double.ts";
import { commandSequences } from "../support/model/commands.ts";
import {
  eventsOf,
  operationsOf,
  projectsIn,
  RANDOM_STARTS,
  recordRun,
  replayRun,
  splitAt,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";

const sequences = commandSequences({ keys: false });
const shares = fc.tuple(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
);

/** Everything visible of a world and its history, except the history id. */
async function portraitOf(double: Double) {
  const events = await eventsOf(double);
  const clock = (await double.sim("GET", "/clock")).body;
  const keys = (await double.sim("GET", "/api_keys")).body;
  const operations = await operationsOf(double, projectsIn(events));
  return {
    state: await worldStateText(double),
    events: JSON.stringify(await journalOf(double)),
    clock,
    keys,
    operations,
  };
}

test("a restored world equals its snapshot, and the previous world is preserved", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, shares, fc.boolean(), async (commands, shares, reopens) => {
      const life = await recordRun(commands);
      const [before, after] = splitAt(life, shares[0]);
      // Different calls follow the snapshot and the restore.
      const [, otherwise] = splitAt(after, shares[1]);
      for (const kind of STORAGE_KINDS) {
        const shelved = await createStorageDouble(kind, RANDOM_STARTS);
        try {
          const double = shelved.double;
          await replayRun(double(), before);
          const kept = await portraitOf(double());
          const id = double().world.history().id;
          const taken = await double().sim("POST", "/snapshots", { name: "kept" });
          expect(taken.status).toBe(201);
          expect(taken.body.snapshot).toMatchObject({ kind: "manual", history_id: id, now: kept.clock.now });
          await replayRun(double(), after);
          const former = await portraitOf(double());
          if (reopens) await shelved.reopen();

          const restored = (await double().sim("POST", "/snapshots/kept/restore")).body;
          expect(await portraitOf(double())).toEqual(kept);
          expect(restored.history_id).toBe(double().world.history().id);
          expect(restored.history_id).not.toBe(id);
          const { snapshots } = (await double().sim("GET", "/snapshots")).body;
          expect(snapshots).toMatchObject([
            { name: "kept", kind: "manual" },
            { name: restored.former_kept_as, kind: "automatic", history_id: id, now: former.clock.now },
          ]);
          if (reopens) await shelved.reopen();
          expect(await portraitOf(double())).toEqual(kept);

          await replayRun(double(), after.slice(0, after.length - otherwise.length));
          await double().sim("POST", `/snapshots/${restored.former_kept_as}/restore`);
          expect(await portraitOf(double())).toEqual(former);
          await double().sim("POST", "/snapshots/kept/restore");
          // The same calls on the same world give the same result.
          await replayRun(double(), after);
          expect(await portraitOf(double())).toMatchObject({
            state: former.state,
            events: former.events,
            clock: former.clock,
          });
          for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
        } finally {
          await shelved.end();
        }
      }
    }),
    30,
  );
});

test.each(STORAGE_KINDS)("a snapshot of a fork belongs to the fork, %s", async (kind) => {
  const shelved = await createStorageDouble(kind);
  try {
    const origin = shelved.double();
    await createProject(origin);
    await origin.sim("POST", "/worlds", { name: "fork" });
    const forked = shelved.world("fork");
    await forked.sim("POST", "/snapshots", { name: "kept" });
    expect((await origin.sim("GET", "/snapshots")).body.snapshots).toEqual([]);
    const [kept, before] = [await worldStateText(forked), await worldStateText(origin)];
    await createProject(forked);
    await forked.sim("POST", "/snapshots/kept/restore");
    expect(await worldStateText(forked)).toBe(kept);
    expect(await worldStateText(origin)).toBe(before);
    await origin.sim("DELETE", "/worlds/fork");
    await origin.sim("POST", "/worlds", { name: "fork" });
    expect((await shelved.world("fork").sim("GET", "/snapshots")).body.snapshots).toEqual([]);
  } finally {
    await shelved.end();
  }
});

test.each(STORAGE_KINDS)(
  "a restore includes rows outside history: passwords, and keys revoked since, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    try {
      const double = shelved.double();
      const { projectId } = await createProject(double);
      const uri = async () =>
        (
          await double.api(
            "GET",
            `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`,
          )
        ).body;
      const { id, key } = (await double.api("POST", "/api_keys", { key_name: "another" })).body;
      const before = await uri();
      expect(before.uri).toMatch(/npg_\w{16}/);
      await double.sim("POST", "/snapshots", { name: "kept" });
      await double.api("DELETE", `/api_keys/${id}`);
      await double.sim("POST", "/reset");
      expect((await double.api("GET", "/projects", undefined, key)).status).toBe(401);
      await double.sim("POST", "/snapshots/kept/restore");
      expect((await double.api("GET", "/projects", undefined, key)).status).toBe(200);
      expect(await uri()).toEqual(before);
    } finally {
      await shelved.end();
    }
  },
);
