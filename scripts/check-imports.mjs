// Who may import whom: the table of docs/explanation/architecture.md, checked. Fails as well where it checked nothing.
import { existsSync, readdirSync } from "node:fs";
import { cruise } from "dependency-cruiser";

/** Rooms of src/ and what each may import, beside itself, `kernel`, `ports` and, at the edge, node's own modules. */
const ROOMS = {
  // Time, ids, tables and other parts that know no noun of the platform. Every room may use them.
  kernel: { rooms: [], packages: [], node: false },
  // Interfaces between this package and its satellites (decision 0039).
  ports: { rooms: [], packages: [], node: false },
  // The table of limits of input, and what counts against it: all that reads input may use it.
  "input-limits": { rooms: [], packages: ["zod"], node: false },
  platform: { rooms: [], packages: [], node: false },
  simulation: { rooms: ["platform"], packages: ["pure-rand"], node: false },
  store: { rooms: ["simulation", "platform"], packages: ["drizzle-orm", "better-sqlite3"], node: true },
  worlds: { rooms: ["store", "simulation", "platform"], packages: ["better-sqlite3"], node: true },
  "traffic/generated": {
    rooms: ["input-limits", "simulation", "platform"],
    packages: ["zod", "cron-parser", "temporal-polyfill"],
    node: false,
  },
  "traffic/recorded": {
    rooms: ["input-limits", "traffic/generated", "simulation", "platform"],
    packages: ["hyparquet", "hyparquet-compressors"],
    node: false,
  },
  // A room of its own: it reads and writes files (decision 0018).
  "traffic/recorded/trace-files": {
    rooms: ["input-limits", "traffic/recorded", "platform"],
    packages: [],
    node: true,
  },
  scenario: {
    rooms: ["input-limits", "traffic", "simulation", "platform"],
    packages: ["yaml", "zod", "xmlbuilder2"],
    node: false,
  },
  whatif: {
    rooms: ["traffic", "platform"],
    packages: ["jstat", "@observablehq/plot", "linkedom"],
    node: false,
  },
  http: {
    rooms: ["input-limits", "worlds", "simulation", "platform"],
    packages: ["hono", "zod"],
    node: true,
  },
  "platform-api": {
    rooms: ["input-limits", "http", "worlds", "simulation", "platform"],
    packages: ["hono", "zod", "cron-parser", "@neondatabase/api-client"],
    node: true,
  },
  "control-api": {
    rooms: ["input-limits", "http", "worlds", "simulation", "platform"],
    packages: ["hono", "zod"],
    node: true,
  },
  "postgres/machine": { rooms: [], packages: [], node: true },
  "postgres/engine": { rooms: ["postgres/machine"], packages: [], node: true },
  "postgres/installations": { rooms: ["postgres/engine", "postgres/machine"], packages: [], node: true },
  "postgres/rights": { rooms: ["postgres/installations", "postgres/engine"], packages: [], node: true },
  "postgres/processes": {
    rooms: ["postgres/rights", "postgres/installations", "postgres/engine", "postgres/machine"],
    packages: ["pg"],
    node: true,
  },
  "postgres/content": { rooms: ["postgres/engine"], packages: [], node: true },
  "postgres/upgrade": {
    rooms: [
      ...["postgres/content", "postgres/processes", "postgres/rights", "postgres/installations"],
      ...["postgres/engine", "postgres/machine"],
    ],
    packages: [],
    node: true,
  },
  "postgres/volumes": { rooms: [], packages: [], node: true },
  postgres: {
    rooms: ["input-limits", "http", "worlds", "simulation", "platform"],
    packages: ["selfsigned", "postgres-array"],
    node: true,
  },
  remote: { rooms: ["platform"], packages: ["zod"], node: true },
  // Copies of accounts on other servers, in a file.
  account: { rooms: ["remote"], packages: ["better-sqlite3", "zod"], node: true },
  // Browser code: it knows the server by its answers only, whose types the document of the control API states.
  console: { rooms: ["control-api"], packages: ["preact", "@preact"], node: false },
};
/** Folders of platform/, lowest first: each may import those before it. A new folder is placed here. */
const PLATFORM_LAYERS = [
  "catalog",
  "model",
  "world",
  "rules/settings",
  "rules/branch-data",
  "rules/fault",
  "rules/operation",
  "rules/account",
  "rules/usage",
  "rules/compute",
  "rules/branch",
  "rules/project",
  "rules",
];
/** Files that are the interface of a room, for rooms that others may import only through it. */
const INTERFACES = {
  worlds: ["world-handle.ts", "moves/world-move.ts", "secrets.ts", "scram-verifier.ts"],
  control: ["document/answers.ts"],
};
const MINIMUM_MODULES = 50;

const forbidden = Object.entries(ROOMS).flatMap(([room, { rooms, packages, node }]) => {
  const within = Object.keys(ROOMS).filter((other) => other.startsWith(`${room}/`));
  const from = {
    path: `^src/${room}/`,
    ...(within.length === 0 ? {} : { pathNot: `^src/(${within.join("|")})/` }),
  };
  const own = [room, ...(room === "ports" ? [] : ["kernel", "ports"]), ...rooms].join("|");
  const known = packages.join("|") || "nothing";
  return [
    { name: `${room}-rooms`, severity: "error", from, to: { path: "^src/", pathNot: `^src/(${own})/` } },
    {
      name: `${room}-packages`,
      severity: "error",
      from,
      to: { path: "node_modules/", pathNot: `node_modules/(@types/)?(${known})/` },
    },
    ...(node ? [] : [{ name: `${room}-node`, severity: "error", from, to: { dependencyTypes: ["core"] } }]),
  ];
});
forbidden.push(
  {
    name: "trace-files",
    severity: "error",
    from: { path: "^src/(whatif|scenario|traffic)/", pathNot: "^src/traffic/recorded/trace-files/" },
    to: { path: "^src/traffic/recorded/trace-files/" },
  },
  // Imports of types count: two files that need each other's types are one file, or miss a third.
  { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
  // Folders are layers: two folders that need each other are one subject, or a part of one is in the wrong place.
  { name: "no-folder-cycles", severity: "error", scope: "folder", from: {}, to: { circular: true } },
  {
    name: "worlds-interface",
    severity: "error",
    from: { path: "^src/(http|platform-api|control-api|postgres)/" },
    to: {
      path: "^src/worlds/",
      pathNot: `^src/worlds/(${INTERFACES.worlds.join("|").replaceAll(".", "\\.")})$`,
    },
  },
  // Everything else uses an engine by its interface, `engine.ts`.
  {
    name: "postgres-processes",
    severity: "error",
    from: { path: "^src/postgres/", pathNot: "^src/postgres/(processes|upgrade)/" },
    to: { path: "^src/postgres/processes/" },
  },
  // Sessions of the superuser have safe settings, because nothing else opens any (decision 0030).
  {
    name: "postgres-sessions",
    severity: "error",
    from: {
      path: "^src/",
      pathNot:
        "^src/(postgres/processes/(admin-sessions|script|session-settings)|cli/whatif/databases/postgres-runner)\\.ts$",
    },
    to: { path: "node_modules/(@types/)?pg/" },
  },
  {
    name: "superuser-sessions",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/postgres/processes/postgres-process\\.ts$" },
    to: { path: "^src/postgres/processes/admin-sessions\\.ts$" },
  },
  {
    name: "console-interface",
    severity: "error",
    from: { path: "^src/console/" },
    to: {
      path: "^src/control-api/",
      pathNot: `^src/control-api/(${INTERFACES.control.join("|").replaceAll(".", "\\.")})$`,
    },
  },
  {
    name: "console-imports-types-only",
    severity: "error",
    from: { path: "^src/console/" },
    to: { path: "^src/control-api/", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "no-tests-in-src",
    severity: "error",
    from: { path: "^(src|packages/[^/]+/src)/" },
    to: { path: "^(test|bench|scripts|packages/[^/]+/test)/" },
  },
  // Only `src/cli/satellites.ts` loads them, by a name that is not known before it runs.
  {
    name: "core-without-satellites",
    severity: "error",
    from: { path: "^src/" },
    to: { path: "^packages/|node_modules/@standin/" },
  },
  {
    name: "satellites-use-ports",
    severity: "error",
    from: { path: "^packages/[^/]+/src/" },
    to: { path: "^src/", pathNot: "^src/ports/" },
  },
  {
    name: "satellites-are-independent",
    severity: "error",
    from: { path: "^packages/([^/]+)/src/" },
    to: { path: "^packages/", pathNot: "^packages/$1/src/" },
  },
  {
    name: "satellites-declare-packages",
    severity: "error",
    from: { path: "^packages/" },
    to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
  },
);

for (const [index, folder] of PLATFORM_LAYERS.entries()) {
  const inner = PLATFORM_LAYERS.slice(0, index).filter((other) => other.startsWith(`${folder}/`));
  const above = PLATFORM_LAYERS.slice(index + 1).filter((other) => other !== "rules");
  if (above.length === 0) continue;
  forbidden.push({
    name: `platform-layers: ${folder}`,
    severity: "error",
    from: {
      path: `^src/platform/${folder}/`,
      ...(inner.length === 0 ? {} : { pathNot: `^src/platform/(${inner.join("|")})/` }),
    },
    to: { path: [`^src/platform/(${above.join("|")})/`, "^src/platform/rules/[^/]+$"] },
  });
}
forbidden.push({
  name: "platform-layers: not in the list",
  severity: "error",
  from: {},
  to: { path: "^src/platform/", pathNot: `^src/platform/(${PLATFORM_LAYERS.join("|")})/` },
});

const satellites = existsSync("packages")
  ? readdirSync("packages").map((name) => `packages/${name}/src`)
  : [];
const { output } = await cruise(["src", ...satellites], {
  ruleSet: { forbidden },
  validate: true,
  // Rules about folders need it.
  metrics: true,
  tsPreCompilationDeps: true,
  tsConfig: { fileName: "tsconfig.json" },
  doNotFollow: { path: "node_modules" },
  enhancedResolveOptions: {
    extensions: [".ts", ".tsx", ".js", ".mjs"],
    exportsFields: ["exports"],
    conditionNames: ["import", "types"],
  },
});
const { summary } = output;
for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle === undefined ? to : cycle.map(({ name }) => name).join(" -> ");
  console.error(`${rule.name}: ${from} -> ${path}`);
}
if (summary.totalCruised < MINIMUM_MODULES)
  console.error(
    `only ${summary.totalCruised} modules were checked, at least ${MINIMUM_MODULES} are expected`,
  );
const ok = summary.violations.length === 0 && summary.totalCruised >= MINIMUM_MODULES;
console.log(
  `imports: ${summary.totalCruised} modules, ${summary.totalDependenciesCruised} dependencies, ${summary.violations.length} violations`,
);
process.exitCode = ok ? 0 : 1;
