import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openAccountFile } from "../../../src/account/account-file.ts";
import { AccountWriter } from "../../../src/account/account-writer.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const T0 = Date.UTC(2026, 0, 5);
const [LATER, SECOND] = [T0 + 3_600_000, 1_000];

function projectOf(id: string, name: string) {
  return { id, name, created_at: T0 };
}

function namesAfter(...pulls: readonly (readonly [isRedacted: boolean, ...projects: [string, string][]])[]) {
  const path = join(testDirectory(), "shop.standin-account");
  for (const [index, [isRedacted, ...projects]] of pulls.entries()) {
    const database = openAccountFile(path, "create");
    const own = projects.map(([id, name]) => projectOf(id, name));
    new AccountWriter(database, isRedacted).addProjects(own, T0 + index * SECOND, true);
    database.close();
  }
  const database = openAccountFile(path, "read");
  const names = Object.fromEntries(database.prepare("SELECT id, name FROM projects").raw().all() as []);
  database.close();
  return { names, bytes: readFileSync(path, "latin1") };
}

test("a project keeps its pseudonym, and a new one gets another", () => {
  const { names } = namesAfter(
    [true, ["a", "Secret Shop"], ["b", "Secret Blog"]],
    [true, ["new", "Secret News"], ["b", "Secret Blog"], ["a", "Secret Shop"]],
  );
  expect(names).toEqual({ a: "project-1", b: "project-2", new: "project-3" });
});

test("names of earlier pulls are erased from the file, also those of projects that are gone", () => {
  const { names, bytes } = namesAfter(
    [false, ["a", "Secret Shop"], ["gone", "Secret Blog"]],
    [true, ["a", "Secret Shop"]],
  );
  expect(names).toEqual({ a: "project-1", gone: "project-2" });
  expect(bytes).not.toContain("Secret");
});

test("a pull without --redact-names stores the names", () => {
  const { names } = namesAfter([true, ["a", "Shop"]], [false, ["a", "Shop"]]);
  expect(names).toEqual({ a: "Shop" });
});

test("settings that two pulls in the same second found are both in the file", () => {
  const database = openAccountFile(join(testDirectory(), "shop.standin-account"), "create");
  const writer = new AccountWriter(database, false);
  const read = (delay: number, at: number) =>
    writer.addEndpoints(
      "shop",
      [
        {
          ...{ id: "ep-a", branch_id: "br-a", type: "read_write", created_at: T0, disabled: false },
          ...{ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1, suspend_timeout_seconds: delay },
        },
      ],
      at,
    );
  read(300, LATER);
  read(60, LATER);
  read(60, LATER);
  read(60, LATER + SECOND);
  const rows = database
    .prepare(
      "SELECT suspend_timeout_seconds, first_seen_at, last_seen_at FROM settings ORDER BY first_seen_at",
    )
    .raw()
    .all();
  database.close();
  expect(rows).toEqual([
    [300, LATER, LATER],
    [60, LATER + 1, LATER + SECOND],
  ]);
});
