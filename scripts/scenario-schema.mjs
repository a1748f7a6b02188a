// Writes scenarios/scenario.schema.json from the parser's own types, so that editors complete and check scenario files: run
// `node scripts/scenario-schema.mjs` after a change of them; with `--check` only checks it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as z from "zod";

const FILE = "scenarios/scenario.schema.json";

/** A placeholder of the matrix may replace any value that is not a string. */
const PLACEHOLDER = {
  description: "a placeholder of the matrix: a dollar sign and a name in braces",
  type: "string",
  pattern: "^\\$\\{\\w+\\}$",
};

function withPlaceholders(schema) {
  if (Array.isArray(schema)) return schema.map(withPlaceholders);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      ["const", "enum", "default", "required"].includes(key) ? value : withPlaceholders(value),
    ]),
  );
  const isScalar =
    ["number", "integer", "boolean"].includes(inner.type) ||
    (Array.isArray(inner.enum) && inner.type === "string");
  if (!isScalar) return inner;
  const { description, default: byDefault, ...rest } = inner;
  return {
    ...(description && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
    anyOf: [rest, { $ref: "#/definitions/placeholder" }],
  };
}

const directory = mkdtempSync(join("node_modules", ".schema-"));
try {
  const outfile = join(directory, "scenario.mjs");
  await build({
    entryPoints: ["src/scenario/file/scenario-schema.ts"],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile,
  });
  const { scenario } = await import(pathToFileURL(outfile).href);
  const schema = z.toJSONSchema(scenario, { io: "input", unrepresentable: "any", target: "draft-7" });
  const filled = withPlaceholders(schema);
  filled.definitions.placeholder = PLACEHOLDER;
  const text = `${JSON.stringify(filled, undefined, 1)}\n`;
  if (!process.argv.includes("--check")) writeFileSync(FILE, text);
  else if (readFileSync(FILE, "utf8") !== text) {
    console.error(`not up to date: ${FILE}; run node scripts/scenario-schema.mjs`);
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true });
}
