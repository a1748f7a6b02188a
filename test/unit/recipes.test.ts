import { dirname, relative, resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

// The recipes of CONTRIBUTING.md, done on a copy in memory: the compiler names each place that is left, and no other.

const ROOT = resolve(import.meta.dirname, "../..");
const CONFIG = ts.getParsedCommandLineOfConfigFile(
  resolve(ROOT, "tsconfig.json"),
  {},
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} },
);
if (CONFIG === undefined) throw new Error("tsconfig.json cannot be read");
const { options } = CONFIG;
const fileNames = CONFIG.fileNames.filter((name) => {
  const path = relative(ROOT, name);
  return path.startsWith("src/") || path === "test/support/rules/rules.ts";
});

type Edit = readonly [file: string, before: string, after: string];

const sources = new Map<string, ts.SourceFile>();

/** The files of which each file is imported, types included. */
const importers = new Map<string, string[]>();
for (const name of fileNames)
  for (const { fileName } of ts.preProcessFile(ts.sys.readFile(name) ?? "").importedFiles) {
    const imported = resolve(dirname(name), fileName);
    importers.set(imported, [...(importers.get(imported) ?? []), name]);
  }

/** The edited files, and all that import them, also through other files. No other file can have a new error. */
function affectedBy(edits: readonly Edit[]): string[] {
  const affected = new Set(edits.map(([file]) => resolve(ROOT, file)));
  // A set also visits what is added to it meanwhile.
  for (const file of affected) for (const importer of importers.get(file) ?? []) affected.add(importer);
  return [...affected];
}

/** The files that do not compile after these edits: of `checked`, or of all. */
function filesWithErrors(edits: readonly Edit[], checked: readonly string[] | "all"): string[] {
  const host = ts.createCompilerHost(options);
  const edited = new Map<string, string>();
  for (const [file, before, after] of edits) {
    const path = resolve(ROOT, file);
    const text = edited.get(path) ?? ts.sys.readFile(path) ?? "";
    expect(text.split(before), `${file} contains once: ${before}`).toHaveLength(2);
    edited.set(
      path,
      text.replace(before, () => after),
    );
  }
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) => {
    const text = edited.get(name);
    if (text !== undefined) return ts.createSourceFile(name, text, languageVersion, true);
    const source = sources.get(name) ?? parse(name, languageVersion);
    if (source !== undefined) sources.set(name, source);
    return source;
  };
  const program = ts.createProgram(fileNames, options, host);
  const paths = checked === "all" ? affectedBy(edits) : checked.map((file) => resolve(ROOT, file));
  const files = paths.map((path) => program.getSourceFile(path) ?? expect.fail(`${path} is not compiled`));
  const errors = files.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  return [...new Set(errors.map(({ file }) => relative(ROOT, file?.fileName ?? "")))].sort();
}

const SETTING: Edit = [
  "src/platform/model/compute.ts",
  "export const COMPUTE_SETTINGS = {\n",
  'export const COMPUTE_SETTINGS = {\n  mood: { field: "mood", kind: "text", restarts: false },\n',
];
/** What a setting of a compute needs beside its row. */
const REST_OF_SETTING: readonly Edit[] = [
  [
    "src/platform/model/compute.ts",
    "    poolerEnabled: compute.poolerEnabled,\n",
    "    mood: compute.mood,\n    poolerEnabled: compute.poolerEnabled,\n",
  ],
  [
    "src/store/tables/schema.ts",
    "    poolerEnabled: flag().notNull(),\n",
    "    mood: text(),\n    poolerEnabled: flag().notNull(),\n",
  ],
];
const EVENT: Edit = [
  "src/platform/model/compute-events.ts",
  '  | (ComputeEventBase & { readonly type: "ComputeSuspending" })\n',
  '  | (ComputeEventBase & { readonly type: "ComputeSuspending" | "ComputePaused" })\n',
];
const COMMAND: Edit = [
  "src/platform/model/compute-events.ts",
  "export type ComputeLifecycleCommand = ",
  'export type ComputeLifecycleCommand = (ComputeRef & { readonly type: "PauseCompute" }) | ',
];

/** By recipe, the files that the compiler names. */
const MISSING = {
  // Where a row is copied; the column.
  setting: ["src/platform/model/compute.ts", "src/store/tables/stored-tables.ts"],
  event: [
    "src/control-api/timeline/fold-lanes.ts",
    "src/platform/rules/compute/evolve-compute.ts",
    "src/platform/rules/evolve.ts",
    "src/postgres/admission/world-events.ts",
    "src/scenario/measure/metrics.ts",
    "src/scenario/record/missing-requests.ts",
    "src/scenario/run/measure-triggers.ts",
    "src/scenario/run/scenario-arrivals.ts",
    "src/simulation/due.ts",
    "src/whatif/trace/metered-sizes.ts",
    "src/whatif/trace/world-traffic.ts",
  ],
  command: [
    "src/platform/rules/compute/compute-lifecycle.ts",
    "src/platform/rules/decide.ts",
    "test/support/rules/rules.ts",
  ],
};

/** The compiler checks half of all sources: some 20 s, or several minutes on a busy machine. */
const WHOLE_CHECK_TIMEOUT_MS = 600_000;

test(
  "a setting, an event and a command of computes: the compiler names each place that is missing, and no other",
  () => {
    expect(filesWithErrors([SETTING, EVENT, COMMAND], "all")).toEqual(Object.values(MISSING).flat().sort());
  },
  WHOLE_CHECK_TIMEOUT_MS,
);

test("a setting of computes is complete with its copy and its column", () => {
  expect(filesWithErrors([SETTING, ...REST_OF_SETTING], MISSING.setting)).toEqual([]);
});
