import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testDirectory } from "../../support/server/running-server.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");

/** Prints the threads of a fork in the past of a world whose file is large. */
const PROGRAM = `
const threads = require("node:worker_threads");
const { basename } = require("node:path");
const Database = require("${ROOT}/node_modules/better-sqlite3");
const { createStandin } = require("${ROOT}/dist/create-standin.cjs");
const started = threads.Worker;
threads.Worker = class extends started {
  constructor(script, options) {
    super(script, options);
    if (options.name !== "copy") return;
    this.on("message", (message) => console.log(basename(script.pathname), JSON.stringify(message)));
  }
};
(async () => {
  const options = { port: false, data: process.argv[2] };
  const first = await createStandin(options);
  await first.fetch("/api/v2/projects", { method: "POST", body: JSON.stringify({ project: {} }) });
  await first.close();
  const file = new Database(process.argv[2] + "/worlds/default.sqlite");
  file.exec("CREATE TABLE padding AS SELECT zeroblob(5000000)");
  file.close();
  const sim = await createStandin(options);
  await sim.fork({ at: 3 });
  await sim.close();
})();`;

test("the library makes a large fork in the past in the thread that the package has for it", async () => {
  const directory = testDirectory();
  const program = join(directory, "program.cjs");
  writeFileSync(program, PROGRAM);
  const { stdout, stderr } = await run(process.execPath, [program, join(directory, "data")]);
  expect({ stderr, lines: stdout.trim().split("\n") }).toEqual({
    stderr: "",
    lines: ['copy-worker.js {"hasBegun":true}', 'copy-worker.js {"result":{"ok":true}}'],
  });
});
