import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/process/process.ts";
import { openWorkerDirectory } from "../../src/worker-directory.ts";

test("a worker removes the directories of workers that were killed, and no others", () => {
  const { path: parent, remove } = temporaryDirectory();
  onTestFinished(remove);
  const own = openWorkerDirectory(parent);
  const [, prefix = ""] = /^(standin-worker-[0-9a-f]{8}-)\d+-\w{6}$/.exec(basename(own.path)) ?? [];
  own.remove();
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  const removed = [`${prefix}${ended}-aaaaaa`, `${prefix}${process.pid}-bbbbbb`];
  const others = [
    `${prefix}${process.ppid}-cccccc`,
    `standin-worker-00000000-${ended}-dddddd`,
    `${prefix}x-eeeeee`,
    "standin-run-ffffff",
  ];
  for (const name of [...removed, ...others]) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "world.sqlite"), "a world");
  }
  const next = openWorkerDirectory(parent);
  expect(readdirSync(parent).sort()).toEqual([...others, basename(next.path)].sort());
  next.remove();
  expect(existsSync(next.path)).toBe(false);
});
