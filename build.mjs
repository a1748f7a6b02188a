// Bundles the command and the package's export into dist/. Runs at `npm ci`. Without the development
// dependencies (`npm ci --omit=dev`) it does nothing.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

let esbuild;
let typescript;
try {
  esbuild = await import("esbuild");
  typescript = (await import("typescript")).default;
} catch (error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  if (!existsSync("dist/standin.js"))
    process.stderr.write("standin: esbuild and typescript are not installed, so dist/ was not built\n");
  process.exit(0);
}

/** Dependencies of the package, and what its user has. Everything else is in the bundle. */
const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const external = Object.keys({ ...dependencies, ...peerDependencies });
const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  // A smaller file is read and compiled sooner; names stay, for readable stacks.
  minifySyntax: true,
  minifyWhitespace: true,
  external,
  logLevel: "warning",
};

// Built aside and put in place at once: a command that runs meanwhile finds the old files or the new ones.
const aside = `dist.${process.pid}`;
// Some dependencies are CommonJS and ask for node's own modules.
const REQUIRE_BANNER = {
  js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
};
// For CommonJS, which has no `import.meta`, and is strict only if it says so before anything else.
const commonJs = {
  ...common,
  format: "cjs",
  define: { "import.meta.url": "__moduleUrl" },
  banner: {
    js: '"use strict"; const __moduleUrl = require("node:url").pathToFileURL(__filename).href;',
  },
};
// Large dependencies that few commands need are files of their own, so that others need not read them.
const SELDOM_USED = [
  "@observablehq/plot",
  "linkedom",
  "xmlbuilder2",
  "jstat",
  "hyparquet",
  "hyparquet-compressors",
  "cron-parser",
  "pg",
  "selfsigned",
  "temporal-polyfill",
  "yaml",
];
/** Messages of their errors contain names of classes. */
const NEEDS_NAMES = ["pg", "selfsigned"];
const seldomUsedFile = (name) => `./${name.replaceAll(/\W+/g, "-").replace(/^-/, "")}.cjs`;
for (const name of SELDOM_USED)
  await esbuild.build({
    ...commonJs,
    minifyIdentifiers: !NEEDS_NAMES.includes(name),
    stdin: { contents: `module.exports = require(${JSON.stringify(name)})`, resolveDir: "." },
    outfile: join(aside, seldomUsedFile(name)),
  });
// Each is read when one of its exports is used for the first time.
const seldomUsed = {
  name: "seldom used",
  setup: (build) => {
    build.onResolve({ filter: new RegExp(`^(${SELDOM_USED.join("|")})$`) }, ({ path }) => ({
      path,
      namespace: "seldom-used",
    }));
    build.onResolve({ filter: /.*/, namespace: "seldom-used" }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /.*/, namespace: "seldom-used" }, ({ path }) => {
      const file = seldomUsedFile(path);
      const names = Object.keys(createRequire(resolve(aside, "build.cjs"))(file));
      return {
        contents: `const load = () => require(${JSON.stringify(file)});
          for (const name of ${JSON.stringify(names)})
            Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] });`,
      };
    });
  },
};
// The exports of the package load one build of the simulator, as ES modules and in CommonJS: one copy, and one class of
// errors.
const simulator = {
  name: "simulator",
  setup: (build) =>
    build.onResolve({ filter: /\/simulator\.ts$/ }, () => ({ path: "./simulator.js", external: true })),
};
// The command and the simulator are one script each, of which V8 can keep the compiled code for the next start.
const commandFile = await buildScript("command", "src/cli/start/bundle.ts");
const simulatorFile = await buildScript("simulator", "src/package/simulator.ts");
await esbuild.build({
  ...common,
  define: { COMMAND_FILE: JSON.stringify(commandFile) },
  entryPoints: {
    standin: "src/cli/start/main.ts",
    "load-command": "src/cli/start/load-command.ts",
    vitest: "src/package/vitest.ts",
  },
  plugins: [simulator],
  outdir: aside,
  splitting: true,
  format: "esm",
  banner: REQUIRE_BANNER,
});
for (const thread of ["run", "whatif", "recording", "scrub", "record", "import", "copy"])
  writeFileSync(
    `${aside}/${thread}-worker.js`,
    `import { loadCommand } from "./load-command.js";\nexport default await loadCommand().THREADS["${thread}-worker"]();\n`,
  );
await esbuild.build({
  ...commonJs,
  define: { ...commonJs.define, SIMULATOR_FILE: JSON.stringify(simulatorFile) },
  entryPoints: { "load-simulator": "src/package/load-simulator.ts" },
  outdir: aside,
  outExtension: { ".js": ".cjs" },
});
writeFileSync(
  `${aside}/simulator.cjs`,
  `"use strict";\nmodule.exports = require("./load-simulator.cjs").loadSimulator();\n`,
);
// Not by `import`: Node would search the whole script for names of exports.
writeFileSync(
  `${aside}/simulator.js`,
  `import { createRequire } from "node:module";
export const { createStandin, StandinError, newestRequest, reportFailedTest } =
  createRequire(import.meta.url)("./simulator.cjs");
`,
);
const names = "{ createStandin, StandinError }";
writeFileSync(`${aside}/create-standin.js`, `export ${names} from "./simulator.js";\n`);
writeFileSync(
  `${aside}/create-standin.cjs`,
  `"use strict";\nconst ${names} = require("./simulator.cjs");\nmodule.exports = ${names};\n`,
);
// The page that a server shows in a browser.
await esbuild.build({
  entryPoints: { console: "src/console/main.tsx" },
  outdir: `${aside}/console`,
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
await esbuild.build({
  entryPoints: ["src/console/console.css"],
  outdir: `${aside}/console`,
  bundle: true,
  minify: true,
  target: "chrome123",
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"])
  copyFileSync(`src/console/${file}`, `${aside}/console/${file}`);
// What satellites get and give. Their own builds contain what they use of it.
const ports = readdirSync("src/ports").map((file) => file.replace(/\.ts$/, ""));
const { outputFiles: portFiles } = await esbuild.build({
  entryPoints: ports.map((port) => `src/ports/${port}.ts`),
  outdir: join(aside, "ports"),
  format: "esm",
  target: "node20",
  logLevel: "warning",
  write: false,
});
mkdirSync(join(aside, "ports"));
for (const { path, text } of portFiles) writeFileSync(path, importBuiltFiles(text, "js"));
for (const port of ports)
  writeFileSync(join(aside, "ports", `${port}.d.ts`), declarationsOf(`src/ports/${port}.ts`, "js"));
// The types of the package's exports import nothing but each other and vitest.
for (const [name, source] of Object.entries({
  "create-standin": "src/package/create-standin.ts",
  "create-options": "src/package/create-options.ts",
  "standin-world": "src/package/standin-world.ts",
  vitest: "src/package/vitest.ts",
}))
  for (const extension of ["js", "cjs"])
    writeFileSync(`${aside}/${name}.d.${extension.replace("js", "ts")}`, declarationsOf(source, extension));
// `npm run docs` builds it, which takes longer.
if (existsSync("dist/docs")) renameSync("dist/docs", `${aside}/docs`);
rmSync("dist", { recursive: true, force: true });
renameSync(aside, "dist");

// Their CommonJS builds, which Node would use, cannot be reduced to what is called and are five times as large.
const ES_MODULES = [
  "api",
  "core",
  "exporter-trace-otlp-http",
  "exporter-trace-otlp-proto",
  "otlp-transformer",
  "resources",
  "sdk-trace-base",
];
const alias = Object.fromEntries(
  ES_MODULES.map((name) => [
    `@opentelemetry/${name}`,
    `./node_modules/@opentelemetry/${name}/build/esm/index.js`,
  ]),
);
// The satellites, each with its own dependencies. This package does without them.
for (const name of existsSync("packages") ? readdirSync("packages") : []) await buildSatellite(name);

async function buildSatellite(name) {
  const folder = join("packages", name);
  const { version, dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const satelliteAside = join(folder, `dist.${process.pid}`);
  await esbuild.build({
    ...common,
    external: Object.keys(dependencies ?? {}),
    entryPoints: [join(folder, "src/index.ts")],
    outdir: satelliteAside,
    format: "esm",
    alias: {
      ...alias,
      ...Object.fromEntries(
        ports.map((port) => [`@standin/standin/ports/${port}`, resolve(`src/ports/${port}.ts`)]),
      ),
    },
    define: { PACKAGE_VERSION: JSON.stringify(version) },
    banner: REQUIRE_BANNER,
  });
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  renameSync(satelliteAside, join(folder, "dist"));
}

/**
 * Bundles `source` into one script, whose value is a function of the parameters of a CommonJS module and `import()`. As a
 * CommonJS module, the script exports the function. Returns the name of its file.
 */
async function buildScript(name, source) {
  const { outputFiles } = await esbuild.build({
    ...commonJs,
    entryPoints: [source],
    plugins: [seldomUsed],
    write: false,
  });
  // Code of an earlier start cannot import; its caller does.
  const code = outputFiles[0].text.replaceAll(/\bimport\((?="|specifier\))/g, "__import(");
  const script = `"use strict"; (this === globalThis ? (bundle) => bundle : (bundle) => (module.exports = bundle))((function (exports, require, module, __filename, __dirname, __import) { ${code}\n}));\n`;
  const digest = createHash("sha256").update(script).digest("hex");
  const file = `${name}-${digest.slice(0, 8)}.cjs`;
  writeFileSync(join(aside, file), script);
  return file;
}

/** The declarations of one file. */
function declarationsOf(source, extension) {
  const { outputText, diagnostics } = typescript.transpileDeclaration(readFileSync(source, "utf8"), {
    compilerOptions: { strict: true, isolatedDeclarations: true },
  });
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ messageText }) => messageText).join("\n"));
  return importBuiltFiles(outputText, extension);
}

/** Replaces the imports of sources by those of the built files, which are in one folder. */
function importBuiltFiles(text, extension) {
  return text.replaceAll(/(["'])\.[\w./-]*\/([\w-]+)\.ts\1/g, `"./$2.${extension}"`);
}
