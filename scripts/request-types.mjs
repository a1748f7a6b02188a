// Writes src/platform-api/decoding/request-types.ts: what the public document says about the types of request bodies and of
// query parameters, so that a request that does not decode gets the platform's words. With `--check` it writes nothing
// and fails if the file is out of date: `node scripts/request-types.mjs`.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

const FILE = "src/platform-api/decoding/request-types.ts";
const DOCUMENT = "node_modules/@neondatabase/api-client/public-v2-for-users.gen.yaml";
const isCheck = process.argv.includes("--check");
const { components, paths } = parse(readFileSync(DOCUMENT, "utf8"));

/** Words that the generator of the platform's decoders writes in one case (`ogen-go/ogen`, `gen/names.go`). */
const INITIALISMS =
  "ACL API ASCII AWS CPU DNS HTML HTTP ID IP JSON OAuth OAuth2 RAM SMS SMTP SQL SSO TTL UI URI URL UUID";
const INITIALISM_OF = new Map(INITIALISMS.split(" ").map((word) => [word.toLowerCase(), word]));

const pascal = (text) =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map(
      (part) => INITIALISM_OF.get(part.toLowerCase()) ?? part.replace(/^./, (first) => first.toUpperCase()),
    )
    .join("");

const nameIn = (reference) => reference.split("/").at(-1);
const resolved = (value, kind) => (value.$ref === undefined ? value : components[kind][nameIn(value.$ref)]);

const types = {};

/** An `allOf` is one object with the fields of all its parts. */
function merged(schema) {
  const whole = resolved(schema, "schemas");
  if (whole.allOf === undefined) return whole;
  const parts = [...whole.allOf, { ...whole, allOf: undefined }].map(merged);
  return {
    type: "object",
    properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

/** The type of a value; `name` is its own if the document gives it none. */
function typeOf(schema, name) {
  const nullable = schema.nullable === true ? "?" : "";
  if (schema.$ref !== undefined) {
    const target = nameIn(schema.$ref);
    const own = components.schemas[target];
    if (own.enum !== undefined) return primitive(own);
    if (own.type !== "object" && own.allOf === undefined) {
      types[target] = { alias: typeOf(own, target) };
      return target;
    }
    return objectType(schema, target);
  }
  if (schema.type === "array") return `${typeOf(schema.items, `${name}Item`)}[]${nullable}`;
  if (schema.type === "object" || schema.allOf !== undefined) return `${objectType(schema, name)}${nullable}`;
  return `${primitive(schema)}${nullable}`;
}

function primitive({ type, format }) {
  if (type === "integer") return format ?? "int";
  if (type === "string" && format === "date-time") return format;
  return type ?? "any";
}

function objectType(schema, name) {
  if (types[name] !== undefined) return name;
  types[name] = {};
  const { properties, required = [], additionalProperties, oneOf } = merged(schema);
  // One of several forms: the document does not say which words the decoder has for each.
  if (oneOf !== undefined) types[name] = { alias: "any" };
  else if (properties === undefined && typeof additionalProperties === "object")
    types[name] = { values: typeOf(additionalProperties, `${name}Item`) };
  else
    types[name] = {
      fields: Object.fromEntries(
        Object.entries(properties ?? {}).map(([field, value]) => [
          field,
          typeOf(value, `${name}${pascal(field)}`),
        ]),
      ),
      ...(required.length === 0
        ? {}
        : { required: Object.keys(properties).filter((field) => required.includes(field)) }),
    };
  return name;
}

const bodies = {};
const parameters = {};
for (const path of Object.values(paths))
  for (const operation of Object.values(path)) {
    const { operationId, requestBody } = operation;
    if (operationId === undefined) continue;
    const body = requestBody?.content?.["application/json"]?.schema;
    if (body !== undefined)
      bodies[operationId] = {
        type: typeOf(body, `${pascal(operationId)}Req`),
        ...(requestBody.required === true ? { isRequired: true } : {}),
      };
    for (const given of [...(operation.parameters ?? []), ...(path.parameters ?? [])]) {
      const { in: place, name, required, schema } = resolved(given, "parameters");
      const { type, format, minimum, maximum, enum: values } = resolved(schema, "schemas");
      const row = {
        ...(required === true ? { isRequired: true } : {}),
        ...(minimum === undefined ? {} : { minimum }),
        ...(maximum === undefined ? {} : { maximum }),
        ...(values === undefined ? {} : { values }),
      };
      const kind = primitive({ type, format });
      if (place !== "query" || type === "array" || (kind === "string" && Object.keys(row).length === 0))
        continue;
      parameters[operationId] = { ...parameters[operationId], [name]: { type: kind, ...row } };
    }
  }

const sorted = Object.fromEntries(Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1)));
const text = `// Written by scripts/request-types.mjs from the public document. Do not edit.
import type { BodyType, ObjectType, ParameterType } from "./type-description.ts";

/** S: objects and named values of request bodies. Those without a name in the document have one from their place. */
export const REQUEST_TYPES: Readonly<Record<string, ObjectType>> = ${JSON.stringify(sorted)};

/** S: the body of each operation that has one in JSON. */
export const BODY_TYPES: Readonly<Record<string, BodyType>> = ${JSON.stringify(bodies)};

/** S: query parameters, except texts and lists, which always decode. */
export const PARAMETER_TYPES: Readonly<Record<string, Readonly<Record<string, ParameterType>>>> = ${JSON.stringify(parameters)};
`;
const formatted = execFileSync("npx", ["biome", "format", `--stdin-file-path=${FILE}`], {
  input: text,
  encoding: "utf8",
});
if (!isCheck) writeFileSync(FILE, formatted);
else if (readFileSync(FILE, "utf8") !== formatted) {
  console.error(`${FILE}: out of date. Run: node scripts/request-types.mjs`);
  process.exitCode = 1;
}
