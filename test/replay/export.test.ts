import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { gunzipSync, inflateRawSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { exportWorld, importWorld } from "../../src/cli/history/world-history.ts";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import { hashSecret } from "../../src/worlds/secrets.ts";
import { API_KEY, createProject, type Double, START } from "../support/double/double.ts";
import {
  createStorageDouble,
  openStorageDouble,
  type StorageDouble,
  verify,
} from "../support/double/storage-double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import {
  eventsOf,
  operationsOf,
  pointChoice,
  projectsIn,
  resolvePoint,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { expectHolds } from "../support/properties/properties.ts";

const ADDRESS = "203.0.113.77";
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** A double that records the secrets it receives: passwords and keys. */
function watched(double: Double, secrets: Set<string>): Double {
  const note = <T>(response: T): T => {
    const text = JSON.stringify(response);
    for (const [password] of text.matchAll(/npg_\w+/g)) secrets.add(password);
    for (const [key] of text.matchAll(/\b\w{64}\b/g)) secrets.add(key);
    return response;
  };
  return {
    ...double,
    api: async (...call) => note(await double.api(...call)),
    sim: async (...call) => note(await double.sim(...call)),
  };
}

/** All bytes of a database and its log, and its decompressed events and checkpoints. */
function contentOf(file: string): string {
  const sqlite = new BetterSqlite3(file, { readonly: true });
  try {
    const checkpoints = sqlite.prepare<[], Buffer>("SELECT world FROM checkpoints").pluck().all();
    const blocks = sqlite.prepare<[], Buffer>("SELECT events FROM event_blocks").pluck().all();
    const bytes = [file, `${file}-wal`]
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path, "latin1"));
    const unpacked = [
      ...blocks.map((events) => inflateRawSync(events)),
      ...checkpoints.map((world) => gunzipSync(world)),
    ];
    return [...bytes, ...unpacked.map(String)].join("\n");
  } finally {
    sqlite.close();
  }
}

function withoutHashes(events: readonly RecordedEvent[]): unknown[] {
  return events.map((event) =>
    event.type === "ApiKeyCreated" ? { ...event, apiKey: { ...event.apiKey, hash: "" } } : event,
  );
}

/** Opens a world as it is, without adding a key. */
const AS_IT_IS = { apiKey: undefined, seed: undefined, startAt: undefined, clock: undefined };

/** Exports the default world of a double, imports it into a new directory, and opens it there. */
async function handOn(
  shelved: StorageDouble,
  look: (imported: Double, out: string) => Promise<void>,
): Promise<void> {
  const [sender, receiver] = [temporaryDirectory(), temporaryDirectory()];
  try {
    const out = `${sender.path}/handed-on.sqlite`;
    await shelved.double().world.flush();
    await exportWorld(shelved.directory, "default", out);
    expect(await importWorld(out, receiver.path, "default")).toMatchObject({ ok: true, differences: [] });
    const imported = await openStorageDouble(receiver.path, AS_IT_IS);
    try {
      await look(imported.double(), out);
    } finally {
      await imported.end();
    }
  } finally {
    sender.remove();
    receiver.remove();
  }
}

test("an exported world has the same state and history, without secrets", async () => {
  await expectHolds(
    fc.asyncProperty(
      commandSequences(),
      fc.option(share, { nil: undefined }),
      pointChoice,
      async (commands, keep, place) => {
        const shelved = await createStorageDouble("in files");
        const secrets = new Set([API_KEY]);
        try {
          const double = watched(shelved.double(), secrets);
          await runCommands(commands, { double: () => double });
          for (const project of projectsIn(await eventsOf(double)))
            await double.api("GET", `/projects/${project}/branches`);
          await double.world.transact((turn) => turn.recordKeyUse(1, ADDRESS));
          const events = await eventsOf(double);
          if (keep !== undefined)
            await double.sim("POST", "/compact", {
              keep: `${Math.floor(keep * (double.world.now() - START))}ms`,
            });
          const hashes = [...secrets].map(hashSecret);
          await double.world.flush();
          expect(hashes.filter((hash) => contentOf(shelved.file()).includes(hash))).not.toEqual([]);

          await handOn(shelved, async (imported, out) => {
            const content = contentOf(out);
            for (const secret of [...secrets, ...hashes, ADDRESS, "npg_"])
              expect(content).not.toContain(secret);
            expect(await worldStateText(imported)).toBe(await worldStateText(double));
            expect((await imported.sim("GET", "/clock")).body).toEqual(
              (await double.sim("GET", "/clock")).body,
            );
            expect(withoutHashes(await eventsOf(imported))).toEqual(withoutHashes(await eventsOf(double)));
            const projects = projectsIn(events);
            expect(await operationsOf(imported, projects)).toEqual(await operationsOf(double, projects));
            const { requested: point, seq } = resolvePoint(events, double.world.now(), place);
            if (seq > double.world.history().forgottenSeq)
              expect(await worldStateText(imported, point)).toBe(await worldStateText(double, point));
            const keys = [...secrets, ...hashes, "emptied-1", hashSecret("emptied-1")].map((key) =>
              imported.api("GET", "/projects", undefined, key),
            );
            expect(new Set((await Promise.all(keys)).map(({ status }) => status))).toEqual(new Set([401]));
          });
        } finally {
          await shelved.end();
        }
      },
    ),
    40,
  );
});

test("an export is a single file without remains of deleted data", async () => {
  const shelved = await createStorageDouble("in files");
  try {
    const double = shelved.double();
    const { projectId, created } = await createProject(double);
    const [{ connection_parameters }] = created.connection_uris;
    const { key } = (await double.api("POST", "/api_keys", { key_name: "revoked" })).body;
    await double.api("DELETE", "/api_keys/2");
    await double.api("DELETE", `/projects/${projectId}`);
    await double.advance("1m");
    await double.sim("POST", "/reset");
    await handOn(shelved, async (_, out) => {
      const content = contentOf(out);
      expect(connection_parameters.password).toMatch(/^npg_/);
      for (const secret of [connection_parameters.password, key, hashSecret(key), hashSecret(API_KEY)])
        expect(content).not.toContain(secret);
      expect(readdirSync(dirname(out))).toEqual([basename(out)]);
      expect(await verify(out)).toMatchObject({ ok: true });
    });
  } finally {
    await shelved.end();
  }
});

test("an imported world continues with its own key and without the redacted passwords", async () => {
  const shelved = await createStorageDouble("in files");
  try {
    const { projectId, path } = await createProject(shelved.double());
    await handOn(shelved, async (imported) => {
      const { key } = (await imported.sim("POST", "/api_keys", { key_name: "mine" })).body;
      const uri = await imported.api(
        "GET",
        `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`,
        undefined,
        key,
      );
      expect(uri.status).toBeLessThan(500);
      expect(JSON.stringify(uri.body)).not.toContain("npg_");
      await imported.advance("1h");
      expect((await imported.api("GET", path, undefined, key)).body.endpoint.current_state).toBe("idle");
      const { status, body } = await imported.api("POST", "/projects", { project: {} }, key);
      expect(status).toBe(201);
      // Its next objects are those that the origin would have created.
      const next = await shelved.double().api("POST", "/projects", { project: {} });
      expect(body.project.id).toBe(next.body.project.id);
      expect((await imported.sim("GET", "/invariants")).body.violations).toEqual([]);
    });
  } finally {
    await shelved.end();
  }
});

test("a file that does not verify, or an existing name, is rejected on import", async () => {
  const shelved = await createStorageDouble("in files");
  const receiver = temporaryDirectory();
  try {
    await createProject(shelved.double());
    const out = `${receiver.path}/handed-on.sqlite`;
    await exportWorld(shelved.directory, "default", out);
    await expect(exportWorld(shelved.directory, "default", out)).rejects.toThrow(/already exists/);
    await importWorld(out, `${receiver.path}/data`, "first");
    const first = readFileSync(`${receiver.path}/data/worlds/first.sqlite`);
    await expect(importWorld(out, `${receiver.path}/data`, "first")).rejects.toThrow(
      /already has a world "first"/,
    );
    const sqlite = new BetterSqlite3(out);
    sqlite.exec("DELETE FROM event_blocks WHERE first_seq = 1");
    sqlite.close();
    await expect(importWorld(out, `${receiver.path}/data`, "second")).rejects.toThrow(
      /does not match its journal \(journal: event 1 or/,
    );
    expect(readdirSync(`${receiver.path}/data/worlds`)).toEqual(["first.sqlite", "first.sqlite-head"]);
    expect(readFileSync(`${receiver.path}/data/worlds/first.sqlite`).equals(first)).toBe(true);
  } finally {
    await shelved.end();
    receiver.remove();
  }
});
