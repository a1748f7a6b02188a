import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { STARTER_FILES } from "../../../src/cli/init/starter-files.ts";
import { SHIPPED } from "../../support/scenario/shipped-scenarios.ts";

// What editors check with. Whether it is of these sources is checked by `npm run check:schema`.

const SCHEMA = "scenarios/scenario.schema.json";
const SEED_SCHEMA = "scenarios/seed.schema.json";
const LARGEST_BYTES = 150_000;

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat("starts_with", true);
const schema = JSON.parse(readFileSync(SCHEMA, "utf8"));
const seedSchema = JSON.parse(readFileSync(SEED_SCHEMA, "utf8"));
const validateScenario = ajv.compile(schema);
const validateSeed = ajv.compile(seedSchema);

/** The places that an editor would mark. */
function marksIn(text: string, validate = validateScenario): string[] {
  return validate(parse(text)) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

test.each(SHIPPED)("%s is valid and names its schema", (file) => {
  const text = readFileSync(file, "utf8");
  expect(marksIn(text)).toEqual([]);
  expect(text.split("\n")[0]).toBe("# yaml-language-server: $schema=scenario.schema.json");
});

const WHOLE = "version: 1\nworld: { projects: { shop: {} } }\nlength: 1m\n";

test.each([
  ["another version", WHOLE.replace("1\n", "2\n"), "/version"],
  ["no version", "length: 1m", ""],
  ["an unknown key", `${WHOLE}lenght: 1d`, ""],
  ["an unknown key of a step", `${WHOLE}steps: [{ advanse: 1m }]`, "/steps/0"],
  ["an unknown plan", `${WHOLE}steps: [{ set: { plan: { main: gold } } }]`, "/steps/0/set/plan/main"],
  ["an unknown pattern", `${WHOLE}traffic: [{ name: a, to: shop/main, pattern: sometimes }]`, "/traffic/0"],
  ["an unknown state", `${WHOLE}expect: [{ state: asleep, of: shop/main }]`, "/expect/0/state"],
  [
    "an invalid nested step",
    `${WHOLE}steps: [{ repeat: { times: 0, steps: [{ advance: 1m }] } }]`,
    "/steps/0/repeat/times",
  ],
  [
    "a delay that is not a number",
    WHOLE.replace(
      "shop: {}",
      "shop: { branches: { main: { computes: { primary: { suspend_timeout_seconds: long } } } } }",
    ),
    "/world/projects/shop/branches/main/computes/primary/suspend_timeout_seconds",
  ],
])("%s is marked", (_, text, place) => {
  expect(marksIn(WHOLE)).toEqual([]);
  expect(marksIn(text)).toContain(place);
});

test("a placeholder may replace a number", () => {
  expect(
    marksIn(
      `${WHOLE}matrix: { n: [1, 2] }\nsteps: [{ repeat: { times: "\${n}", steps: [{ advance: 1m }] } }]`,
    ),
  ).toEqual([]);
});

const SEED = `version: 1
accounts:
  - id: acme
    projects:
      - { id: shop, branches: [{ id: br-main, name: main, endpoints: [{ id: ep-main }] }] }
`;

test.each([
  ["another version", SEED.replace("version: 1", "version: 2"), "/version"],
  ["no account", "version: 1\naccounts: []", "/accounts"],
  ["an unknown key of a project", SEED.replace("branches:", "branchs:"), "/accounts/0/projects/0"],
  [
    "the id of a compute",
    SEED.replace("ep-main", "main"),
    "/accounts/0/projects/0/branches/0/endpoints/0/id",
  ],
])("of a seed file, %s is marked", (_, text, place) => {
  expect(marksIn(SEED, validateSeed)).toEqual([]);
  expect(marksIn(text, validateSeed)).toContain(place);
});

test("the example of the reference and the file of standin init are valid seed files", () => {
  const [, example = ""] =
    /```yaml\n([\s\S]*?)```/.exec(readFileSync("docs/reference/seed-file.md", "utf8")) ?? [];
  expect(marksIn(example, validateSeed)).toEqual([]);
  expect(marksIn(STARTER_FILES["seed.yaml"]?.text ?? "", validateSeed)).toEqual([]);
});

test("the schema is small and describes its fields", () => {
  const text = readFileSync(SCHEMA, "utf8");
  expect(Buffer.byteLength(text)).toBeLessThan(LARGEST_BYTES);
  expect(text.match(/"description"/g)?.length).toBeGreaterThan(100);
  expect(JSON.parse(text).definitions.expectation.properties.cold_starts.description).toBe(
    "starts triggered by an arrival",
  );
});

type Property = { readonly place: string; readonly description?: string; readonly examples?: unknown[] };

/** All properties, with JSON pointers into the schema. */
function propertiesIn(node: unknown, place = "#"): Property[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, inner]) => {
    if (["examples", "default", "enum"].includes(key)) return [];
    const at = `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const isProperty = place.endsWith("/properties");
    return [...(isProperty ? [{ ...(inner as object), place: at }] : []), ...propertiesIn(inner, at)];
  });
}

test.each([
  ["scenario", schema, 300],
  ["seed", seedSchema, 25],
])("every property of a %s file has a description and an example that is valid there", (_, schema, least) => {
  const properties = propertiesIn(schema);
  expect(properties.length).toBeGreaterThan(least);
  const problems = properties.flatMap(({ place, description, examples = [] }) => {
    const isValid = ajv.compile({ $ref: `${schema.$id}${encodeURI(place)}` });
    return [
      ...(description === undefined ? [`${place}: no description`] : []),
      ...(examples.length === 0 ? [`${place}: no example`] : []),
      ...examples.flatMap((example) => (isValid(example) ? [] : [`${place}: ${JSON.stringify(example)}`])),
    ];
  });
  expect(problems).toEqual([]);
});

test("the schemas have an id and a title", () => {
  expect(schema).toMatchObject({ $id: "urn:standin:scenario:1", title: "standin scenario" });
  expect(seedSchema).toMatchObject({ $id: "urn:standin:seed:1", title: "standin seed" });
});
