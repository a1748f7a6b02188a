import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

test("a server takes backups at the interval, removes the oldest, and a backup can be restored as a world", async () => {
  const data = testDirectory();
  const server = await startServer(data, [
    "--clock",
    "manual",
    "--seed",
    "1",
    "--backup-every",
    "1s",
    "--keep-backups",
    "2",
  ]);
  const backups = async (): Promise<string[]> =>
    (await server.sim("GET", "/snapshots")).body.snapshots
      .filter(({ kind }) => kind === "backup")
      .map(({ name }) => name);
  const seen = new Set<string>();
  // A change between any two backups makes each of them different.
  await vi.waitUntil(
    async () => {
      await server.api("POST", "/api_keys", { key_name: `key-${seen.size}` });
      for (const name of await backups()) seen.add(name);
      return seen.size >= 4;
    },
    { timeout: 60_000, interval: 200 },
  );
  const [oldest, ...others] = await backups();
  expect(others.length).toBeLessThanOrEqual(1);
  expect([...seen].indexOf(oldest ?? "")).toBeGreaterThan(0);
  expect(readdirSync(join(data, "snapshots/default")).length).toBeLessThanOrEqual(3);
  await server.kill("SIGTERM");
  const [kept = ""] = readdirSync(join(data, "snapshots/default"));
  expect(await runStandin(["verify", join(data, "snapshots/default", kept)])).toMatchObject({
    code: 0,
    stderr: "",
  });
  const restored = await runStandin(["snapshots", "restore", kept.replace(/\.sqlite$/, ""), "--data", data]);
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  const logged = [...server.stderr().matchAll(/took backup (backup-[a-z0-9-]+)/g)].map(([, name]) => name);
  expect(logged).toHaveLength(new Set(logged).size);
  expect(logged.length).toBeGreaterThan(3);
});
