// Who may import whom: the table of docs/explanation/architecture.md, checked. Fails as well where it checked nothing.
import { cruise } from "dependency-cruiser";

/** Rooms of src/ and what each may import, beside itself, `kernel` and, at the edge, node's own modules. */
const ROOMS = {
  // The table of limits of input, and what counts against it: all that reads input may use it.
  limits: { rooms: [], packages: [], node: false },
  // Time, ids, tables and other parts that know no noun of the platform. Every room may use them.
  kernel: { rooms: [], packages: [], node: false },
  platform: { rooms: [], packages: [], node: false },
  simulation: { rooms: ["platform"], packages: ["pure-rand"], node: false },
  store: { rooms: ["simulation", "platform"], packages: ["drizzle-orm", "better-sqlite3"], node: true },
  worlds: { rooms: ["store", "simulation", "platform"], packages: ["better-sqlite3"], node: true },
  traffic: {
    rooms: ["simulation", "platform"],
    packages: ["zod", "cron-parser", "temporal-polyfill"],
    node: false,
  },
  recordings: {
    rooms: ["limits", "traffic", "simulation", "platform"],
    packages: ["hyparquet", "hyparquet-compressors"],
    node: false,
  },
  // A room of its own: it reads and writes files (decision 0018).
  "recordings/trace-files": { rooms: ["limits", "recordings", "platform"], packages: [], node: true },
  scenario: {
    rooms: ["limits", "recordings", "traffic", "simulation", "platform"],
    packages: ["yaml", "zod", "xmlbuilder2"],
    node: false,
  },
  whatif: {
    rooms: ["recordings", "traffic", "platform"],
    packages: ["jstat", "@observablehq/plot", "linkedom"],
    node: false,
  },
  http: { rooms: ["limits", "worlds", "simulation", "platform"], packages: ["hono", "zod"], node: true },
  api: {
    rooms: ["limits", "http", "worlds", "simulation", "platform"],
    packages: ["hono", "zod", "@neondatabase/api-client"],
    node: true,
  },
  remote: { rooms: ["platform"], packages: [], node: true },
  mirror: { rooms: ["remote", "scenario", "platform"], packages: ["yaml", "zod"], node: false },
  drift: { rooms: ["remote", "api"], packages: [], node: false },
  engine: { rooms: [], packages: ["pg"], node: true },
  volumes: { rooms: [], packages: [], node: true },
  gateway: {
    rooms: ["limits", "engine", "volumes", "http", "worlds", "simulation", "platform"],
    packages: ["selfsigned", "postgres-array"],
    node: true,
  },
  // Browser code: it knows the server by its answers only, whose types the document of the control API states.
  console: { rooms: ["control"], packages: ["preact", "@preact"], node: false },
  control: {
    rooms: ["limits", "http", "worlds", "simulation", "platform"],
    packages: ["hono", "zod"],
    node: true,
  },
};
/** Of a room that others may import only as an interface, the files that are it. */
const INTERFACES = {
  worlds: ["world-handle.ts", "moves/world-move.ts", "secrets.ts", "scram-verifier.ts"],
  engine: [
    "engine.ts",
    "applied-content.ts",
    "cluster-content.ts",
    "cluster-rights.ts",
    "content.ts",
    "delete-rows.ts",
    "extension.ts",
    "log-position.ts",
  ],
  control: ["document/answers.ts"],
  simulation: null,
};
const MINIMUM_MODULES = 50;

const forbidden = Object.entries(ROOMS).flatMap(([room, { rooms, packages, node }]) => {
  const within = Object.keys(ROOMS).filter((other) => other.startsWith(`${room}/`));
  const from = {
    path: `^src/${room}/`,
    ...(within.length === 0 ? {} : { pathNot: `^src/(${within.join("|")})/` }),
  };
  const own = [room, "kernel", ...rooms].join("|");
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
    from: { path: "^src/(recordings|whatif|scenario|traffic)/", pathNot: "^src/recordings/trace-files/" },
    to: { path: "^src/recordings/trace-files/" },
  },
  // Imports of types count: two files that need each other's types are one file, or miss a third.
  { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
  {
    name: "worlds-interface",
    severity: "error",
    from: { path: "^src/(http|api|control|gateway)/" },
    to: {
      path: "^src/worlds/",
      pathNot: `^src/worlds/(${INTERFACES.worlds.join("|").replaceAll(".", "\\.")})$`,
    },
  },
  {
    name: "engine-interface",
    severity: "error",
    from: { path: "^src/gateway/" },
    to: {
      path: "^src/engine/",
      pathNot: `^src/engine/(${INTERFACES.engine.join("|").replaceAll(".", "\\.")})$`,
    },
  },
  // Sessions of the superuser have safe settings, because nothing else opens any (decision 0030).
  {
    name: "postgres-sessions",
    severity: "error",
    from: {
      path: "^src/",
      pathNot:
        "^src/(engine/(admin-sessions|script|session-settings)|cli/whatif-databases/postgres-runner)\\.ts$",
    },
    to: { path: "node_modules/(@types/)?pg/" },
  },
  {
    name: "superuser-sessions",
    severity: "error",
    from: { path: "^src/", pathNot: "^src/engine/postgres-process\\.ts$" },
    to: { path: "^src/engine/admin-sessions\\.ts$" },
  },
  {
    name: "console-interface",
    severity: "error",
    from: { path: "^src/console/" },
    to: {
      path: "^src/control/",
      pathNot: `^src/control/(${INTERFACES.control.join("|").replaceAll(".", "\\.")})$`,
    },
  },
  {
    name: "console-imports-types-only",
    severity: "error",
    from: { path: "^src/console/" },
    to: { path: "^src/control/", dependencyTypesNot: ["type-only"] },
  },
  {
    name: "no-tests-in-src",
    severity: "error",
    from: { path: "^src/" },
    to: { path: "^(test|bench|scripts)/" },
  },
);

const { output } = await cruise(["src"], {
  ruleSet: { forbidden },
  validate: true,
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
