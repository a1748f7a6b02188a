import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testDirectory } from "../support/running-server.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../..");

const CONSUMER = `import { createStandin, StandinError, type Standin, type StandinEvent } from "standin";
const sim: Standin = await createStandin({ seed: 7, clock: "manual", profile: "2026", port: false });
const { now, events }: { now: string; events: StandinEvent[] } = await sim.advance("5m");
const fork: Standin = await sim.fork({ at: 1, clock: "60x" });
try {
  await fork.restore("nothing");
} catch (error) {
  if (!(error instanceof StandinError) || error.code !== "SNAPSHOT_NOT_FOUND") throw error;
}
console.log(now, events.length, (await sim.invariants()).ok);
await sim.close();
`;

/** A foreign project that depends on standin. */
function project(source: string): string {
  const directory = testDirectory();
  mkdirSync(join(directory, "node_modules/@types"), { recursive: true });
  symlinkSync(ROOT, join(directory, "node_modules/standin"));
  symlinkSync(join(ROOT, "node_modules/@types/node"), join(directory, "node_modules/@types/node"));
  symlinkSync(join(ROOT, "node_modules/undici-types"), join(directory, "node_modules/undici-types"));
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    outDir: "out",
    types: ["node"],
  };
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["main.ts"] }));
  writeFileSync(join(directory, "main.ts"), source);
  return directory;
}

const compile = (cwd: string) =>
  run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc")], { cwd });

test("a foreign TypeScript project compiles against the types of the package, and runs", async () => {
  const directory = project(CONSUMER);
  await compile(directory);
  const { stdout, stderr } = await run(process.execPath, ["out/main.js"], { cwd: directory });
  expect({ stdout, stderr }).toEqual({ stdout: "2026-01-01T00:05:00.000Z 0 true\n", stderr: "" });
});

test("an unknown option is a compiler error", async () => {
  const directory = project('import { createStandin } from "standin";\nawait createStandin({ sed: 7 });\n');
  await expect(compile(directory)).rejects.toMatchObject({
    stdout: expect.stringContaining("'sed' does not exist in type 'StandinOptions'"),
  });
});
