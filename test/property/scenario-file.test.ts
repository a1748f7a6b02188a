import fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { MEASURES } from "../../src/scenario/file/expectation.ts";
import { parseScenario, ScenarioError } from "../../src/scenario/parse-scenario.ts";
import { expectHolds } from "../support/properties/properties.ts";

const durations = fc.oneof(
  fc.nat(10_000_000).map((ms) => (ms === 0 ? 0 : `${ms}ms`)),
  fc
    .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom("s", "m", "h", "d"))
    .map(([n, unit]) => `${n}${unit}`),
);
const longer = durations.filter((duration) => duration !== 0);
/** Longer than any other duration here. */
const lengths = fc.integer({ min: 501, max: 999 }).map((days) => `${days}d`);
const instants = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString());
const whens = fc.oneof(durations, instants);
/** Open on at least one side, so that no window ends before it starts. */
const windows: fc.Arbitrary<object> = fc.oneof(
  fc.constant({}),
  fc.record({ from: whens }),
  fc.record({ until: fc.oneof(longer, instants) }),
);
/** Texts that YAML must quote or might misread. */
const texts = fc.oneof(
  fc.constantFrom(
    "yes",
    "null",
    "1e3",
    "0x1f",
    "~",
    "- a",
    "a: b",
    "# no",
    "2026-01-01",
    "'",
    '"',
    "\n",
    " x ",
    "é",
    "%",
    "@a",
    "&a",
    "*a",
    "!a",
    "{x",
    "[y",
  ),
  fc
    .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
    .filter((text) => !/[${]|[\ud800-\udfff]/.test(text)),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.boolean(),
    fc.integer(),
    texts,
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "name", "on"), tie("value")),
  ),
})).value;

const label = fc.constantFrom("shop", "blog", "fleet", "a", "x-9", "0");
const compute = fc.record(
  {
    type: fc.constantFrom("read_write", "read_only"),
    suspend_timeout_seconds: fc.constantFrom(0, -1, 60, 300),
    disabled: fc.boolean(),
  },
  { requiredKeys: [] },
);
const branch = fc.record(
  {
    protected: fc.boolean(),
    computes: fc.dictionary(fc.constantFrom("primary", "replica-1"), compute, { noNullPrototype: true }),
  },
  { requiredKeys: [] },
);
const project = fc.record(
  {
    pg_version: fc.integer({ min: 14, max: 17 }),
    branches: fc.record(
      { main: fc.constant({ computes: { primary: {} } }), dev: branch },
      { requiredKeys: ["main"] },
    ),
  },
  { requiredKeys: [] },
);
const world = fc.record(
  {
    seed: fc.nat(2 ** 32 - 1),
    start: fc.integer({ min: 0, max: 4_000_000_000_000 }).map((ms) => new Date(ms).toISOString()),
    profile: fc.constantFrom("2024", "2026"),
    plan: fc.constantFrom("paid", "free"),
    operations: fc.constantFrom("timed", "immediate"),
    start_delay: fc.constantFrom("3s", "1s..5s", "3s~0.5"),
    limits: fc.record({ branches: fc.nat(100), projects: fc.nat(100) }, { requiredKeys: [] }),
    projects: fc
      .tuple(fc.dictionary(label, project, { noNullPrototype: true }), project)
      .map(([some, target]) => ({ ...some, target })),
  },
  { requiredKeys: ["projects"] },
);

const source = fc.oneof(
  fc.record(
    { pattern: fc.constant("constant"), every: longer, jitter: durations },
    { requiredKeys: ["pattern", "every"] },
  ),
  fc.record(
    {
      pattern: fc.constant("poisson"),
      rate: fc.constantFrom("5/s", "2.5/hour", 3),
      duration: fc.constantFrom("3s", "1s..5s", "3s~0.5", "20ms"),
    },
    { requiredKeys: ["pattern", "rate"] },
  ),
  fc.record(
    {
      pattern: fc.constant("cron"),
      schedule: fc.constantFrom("*/15 9-17 * * mon-fri", "0 * * * *"),
      time_zone: fc.constantFrom("UTC", "Europe/Berlin"),
    },
    { requiredKeys: ["pattern", "schedule"] },
  ),
  fc.record(
    {
      pattern: fc.constant("office-hours"),
      rate: fc.constant("9/hour"),
      opens: fc.constant("08:30"),
      spacing: fc.constantFrom("random", "even"),
    },
    { requiredKeys: ["pattern", "rate"] },
  ),
  fc.record({
    pattern: fc.constant("ramp"),
    phases: fc.array(fc.record({ for: longer, to: fc.constantFrom("1/s", "9/min") }), {
      minLength: 1,
      maxLength: 3,
    }),
    repeat: fc.boolean(),
  }),
  fc.record({ pattern: fc.constant("health-check"), every: longer, pool: fc.integer({ min: 1, max: 50 }) }),
);
const traffic = fc.array(fc.tuple(source, windows), { maxLength: 3 }).map((all) =>
  all.map(([pattern, bounds], index) => ({
    name: `source ${index}`,
    to: "target/main",
    ...pattern,
    ...bounds,
  })),
);

const bounds = <T>(value: fc.Arbitrary<T>, min: T, max: T) =>
  fc.oneof(value, fc.record({ min: value }), fc.record({ max: value }), fc.constant({ min, max }));
const FILTERS: Readonly<Record<string, object>> = {
  requests: { status: 423, method: "POST" },
  operations: { action: "start_compute" },
  events: { type: "BranchCreated" },
};
const expectation = fc
  .tuple(
    fc.constantFrom(...(Object.keys(MEASURES) as (keyof typeof MEASURES)[])),
    fc.record({
      count: bounds(fc.nat(1_000), 1, 2),
      duration: bounds<string | number>(durations, "1s", "1m"),
      state: fc.constantFrom("idle", ["active", "starting"]),
    }),
    windows,
    fc.boolean(),
  )
  .map(([measure, wanted, window, isOfOne]) => ({
    [measure]: wanted[MEASURES[measure].unit],
    ...(isOfOne || measure === "state" ? { of: "target/main" } : {}),
    ...(FILTERS[measure] === undefined ? {} : { with: FILTERS[measure] }),
    ...window,
  }));
const watched = fc.array(expectation, { maxLength: 3 });
/** Expectations that are checked once have no window. */
const expectations = watched.map((all) =>
  all.map((one) =>
    Object.fromEntries(Object.entries(one).filter(([key]) => key !== "from" && key !== "until")),
  ),
);

const request = fc.record(
  {
    method: fc.constantFrom("GET", "POST", "PATCH"),
    path: fc.constantFrom("/projects", "/projects/{target}/branches/{target/main}"),
    body: json,
    status: fc.oneof(fc.constant(201), fc.constant([200, 404])),
    answer: fc.dictionary(fc.constantFrom("branch.name", "code"), json, { noNullPrototype: true }),
    retry: fc.record({ every: durations, times: fc.integer({ min: 1, max: 9 }) }),
  },
  { requiredKeys: ["path"] },
);
const activity = fc.record(
  {
    to: fc.constant("target/main"),
    kind: fc.constantFrom("query", "connect", "transaction"),
    duration: durations,
    connection: texts,
    outcome: fc.constantFrom("served", "waits"),
  },
  { requiredKeys: ["to"] },
);
const { step } = fc.letrec<{ step: object; steps: object[] }>((tie) => ({
  step: fc
    .tuple(
      fc.record({ name: texts, after: durations }, { requiredKeys: [] }),
      fc.oneof(
        { depthSize: "small" },
        fc.record({ request }),
        fc.record({ activity }),
        fc.record({ advance: fc.oneof(durations, fc.constant({ until: "settled", within: "10m" })) }),
        fc.record({ expect: expectations }),
        fc.constant({ snapshot: "here" }),
        fc.constant({ set: { plan: { main: "free" } } }),
        fc.constant({ clear_faults: true }),
        fc.record({ repeat: fc.record({ times: fc.integer({ min: 1, max: 9 }), steps: tie("steps") }) }),
        fc.record({ parallel: fc.array(tie("steps"), { minLength: 1, maxLength: 2 }) }),
      ),
    )
    .map(([place, action]) => ({ ...place, ...(action as object) })),
  steps: fc.array(tie("step"), { minLength: 1, maxLength: 3 }),
}));

/** Only as the first step, so that the time is not in the past. */
const first = fc.oneof(fc.record({ at: whens }), fc.record({ advance: fc.record({ to: whens }) }));

const parts = fc.record(
  {
    version: fc.constant(1),
    name: texts,
    about: texts,
    world,
    traffic,
    steps: fc
      .tuple(fc.array(first, { maxLength: 1 }), fc.array(step, { maxLength: 5 }))
      .map((steps) => steps.flat()),
    length: lengths,
    expect: expectations,
    always: watched,
    never: watched,
    matrix: fc.record({
      delay: fc.oneof(
        fc.uniqueArray(fc.nat(900), { minLength: 1, maxLength: 3 }),
        fc.constant({ from: 1, to: 3 }),
      ),
    }),
  },
  { requiredKeys: ["version", "world", "length"] },
);
/** Files with steps have no length, which the steps could exceed. Files with a matrix use its name. */
const file = parts.map(({ length, ...rest }) => ({
  ...rest,
  ...((rest.steps ?? []).length > 0 ? {} : { length }),
  ...(rest.matrix === undefined ? {} : { about: `\${delay} and \${delay}` }),
}));

test("a scenario in YAML is the same as in JSON", async () => {
  await expectHolds(
    fc.asyncProperty(file, async (source) => {
      const { variants } = parseScenario(JSON.stringify(source), "mine.json");
      expect(parseScenario(stringify(source, { lineWidth: 140 }), "mine.yaml").variants).toEqual(variants);
    }),
    300,
  );
});

/** Every path in a value, parents first. */
function placesIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((inner, index) => (String(index) === key ? replaced(inner, rest, by) : inner));
  return { ...(value as object), [key]: replaced((value as Record<string, unknown>)[key], rest, by) };
}

test("every problem of a broken scenario has a place, and an unknown name is reported as well", async () => {
  const wrong = fc.constantFrom<unknown>(null, true, -1, "", [], [[]], { nobody: 1 }, { name: { a: [{}] } });
  await expectHolds(
    fc.asyncProperty(
      file,
      fc.array(fc.tuple(fc.nat(), wrong), { minLength: 1, maxLength: 4 }),
      async (source, breaks) => {
        // The world stays intact, because the other names are looked up in it.
        const {
          world,
          matrix: _,
          ...rest
        } = { steps: [], ...(source as Record<string, unknown>) } as Record<string, unknown>;
        const steps = [...(rest["steps"] as unknown[]), { restore: "not taken" }];
        const broken = breaks.reduce<unknown>((value, [at, by]) => {
          const places = placesIn(value).filter((path) => path.length > 1);
          return replaced(value, places[at % places.length] ?? ["length"], by);
        }, rest);
        const text = JSON.stringify({
          ...(broken as object),
          version: 1,
          world,
          steps: [...((broken as { readonly steps?: unknown[] }).steps ?? []), ...steps.slice(-1)],
        });
        const parse = () => parseScenario(text, "mine.json");
        expect(parse).toThrow(ScenarioError);
        try {
          parse();
        } catch (error) {
          const lines = (error as Error).message.split("\n");
          for (const line of lines) expect(line).toMatch(/^mine\.json:\d+:\d+: /);
          expect(lines.join("\n")).toContain('no earlier step takes a snapshot "not taken"');
        }
      },
    ),
    200,
  );
});
