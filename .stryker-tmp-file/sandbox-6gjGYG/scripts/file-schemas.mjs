// @ts-nocheck
// Writes the JSON Schemas of scenario files and seed files from the parsers' own types, so that editors complete and
// check such files: run `node scripts/file-schemas.mjs` after a change of them; with `--check` only checks them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as z from "zod";

const SCHEMAS = [
  {
    kind: "scenario",
    source: "src/scenario/file/scenario-schema.ts",
    exported: "scenario",
    file: "scenarios/scenario.schema.json",
    hasPlaceholders: true,
  },
  {
    kind: "seed",
    source: "src/scenario/file/seed-schema.ts",
    exported: "seedFile",
    file: "scenarios/seed.schema.json",
    hasPlaceholders: false,
  },
];

/** A placeholder of the matrix may replace any value that is not a string. */
const PLACEHOLDER = {
  description: "a placeholder of the matrix: a dollar sign and a name in braces",
  type: "string",
  pattern: "^\\$\\{\\w+\\}$",
};

/** Keys whose values are data, not schemas. */
const DATA_KEYS = ["const", "enum", "default", "required", "examples"];
const ANNOTATIONS = ["description", "default", "examples"];

/** Without this, zod drops the examples of a schema that transforms its input. They are examples of the input. */
function keepExamples({ zodSchema, jsonSchema }) {
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (examples !== undefined) jsonSchema.examples = examples;
}

function withPlaceholders(schema) {
  if (Array.isArray(schema)) return schema.map(withPlaceholders);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(
    Object.entries(schema)
      // The referenced definition has them.
      .filter(([key]) => !("$ref" in schema) || key === "$ref" || ANNOTATIONS.includes(key))
      .map(([key, value]) => [key, DATA_KEYS.includes(key) ? value : withPlaceholders(value)]),
  );
  const isScalar =
    ["number", "integer", "boolean"].includes(inner.type) ||
    (Array.isArray(inner.enum) && inner.type === "string");
  if (!isScalar) return inner;
  const [annotations, rest] = [true, false].map((isAnnotation) =>
    Object.fromEntries(Object.entries(inner).filter(([key]) => ANNOTATIONS.includes(key) === isAnnotation)),
  );
  return { ...annotations, anyOf: [rest, { $ref: "#/definitions/placeholder" }] };
}

/** Properties without a description or an example, which an editor shows. */
function* undocumented(schema, place) {
  if (typeof schema !== "object" || schema === null) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const missing = [
      ...(property.description ? [] : ["description"]),
      ...(property.examples?.length ? [] : ["example"]),
    ];
    if (missing.length > 0) yield `${place}.${name}: no ${missing.join(" and no ")}`;
    yield* undocumented(property, `${place}.${name}`);
  }
  for (const [key, inner] of Object.entries(schema)) {
    if (key === "definitions" || key === "properties" || DATA_KEYS.includes(key)) continue;
    for (const part of [inner].flat()) yield* undocumented(part, place);
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {}))
    yield* undocumented(definition, name);
}

/** The text of the schema, and what is missing in it. */
async function schemaOf({ kind, source, exported, hasPlaceholders }, directory) {
  const outfile = join(directory, `${kind}.mjs`);
  await build({
    entryPoints: [source],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    outfile,
  });
  const parser = (await import(pathToFileURL(outfile).href))[exported];
  const schema = z.toJSONSchema(parser, {
    io: "input",
    unrepresentable: "any",
    target: "draft-7",
    override: keepExamples,
  });
  const filled = hasPlaceholders ? withPlaceholders(schema) : schema;
  if (hasPlaceholders) filled.definitions.placeholder = PLACEHOLDER;
  const { $schema, ...rest } = filled;
  const named = { $schema, $id: `urn:standin:${kind}:1`, title: `standin ${kind}`, ...rest };
  return { text: `${JSON.stringify(named, undefined, 1)}\n`, problems: [...undocumented(named, kind)] };
}

const directory = mkdtempSync(join("node_modules", ".schema-"));
try {
  for (const schema of SCHEMAS) {
    const { text, problems } = await schemaOf(schema, directory);
    if (problems.length > 0) {
      console.error(`${problems.join("\n")}\nadd documented("…", example) to the property's schema`);
      process.exitCode = 1;
    }
    if (!process.argv.includes("--check")) writeFileSync(schema.file, text);
    else if (readFileSync(schema.file, "utf8") !== text) {
      console.error(`not up to date: ${schema.file}; run node scripts/file-schemas.mjs`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(directory, { recursive: true });
}
