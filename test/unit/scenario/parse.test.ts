// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the matrix are written like this.
import { expect, test } from "vitest";
import { parseScenario, ScenarioError } from "../../../src/scenario/parse-scenario.ts";

/** The problems of a file, one line each. */
function problemsOf(text: string): string[] {
  try {
    parseScenario(text, "mine.yaml");
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.message.split("\n");
  }
}

/** A valid file with these lines after its world. */
const withLines = (...lines: string[]) =>
  ["version: 1", "world: { projects: { shop: {} } }", ...lines].join("\n");

test("a file with a world, a step and an expectation is a scenario with the name of the file", () => {
  const file = parseScenario(
    withLines("steps:", "  - advance: 10m", "expect:", "  - { suspends: 1 }"),
    "some/where/sleeps.yaml",
  );
  expect(file.variants).toHaveLength(1);
  const [{ name, scenario }] = file.variants as [(typeof file.variants)[number]];
  expect(name).toBe("sleeps");
  expect(scenario.world).toMatchObject({
    seed: 1,
    profile: "2024",
    plan: "paid",
    operations: "timed",
    start: Date.UTC(2026, 0, 1),
  });
  expect(scenario.steps).toEqual([{ advance: 600_000 }]);
  expect(scenario.expect).toMatchObject([{ measure: "suspends", expected: { min: 1, max: 1 } }]);
});

test.each([
  ["mine.scenario.yml", "mine"],
  ["mine.json", "mine"],
  ["mine.yaml", "mine"],
])("the scenario in %s is called %s unless the file sets a name", (fileName, name) => {
  const nameOf = (...lines: string[]) => parseScenario(withLines(...lines), fileName).variants[0]?.name;
  expect(nameOf("length: 1m")).toBe(name);
  expect(nameOf("name: other", "length: 1m")).toBe("other");
});

test("a name may contain a value of the matrix", () => {
  const { variants } = parseScenario(
    withLines('name: "on ${plan}"', "length: 1m", "matrix: { plan: [free, paid] }"),
    "mine.yaml",
  );
  expect(variants.map(({ name }) => name)).toEqual(["on free", "on paid"]);
});

test("a scenario may be JSON and name its schema", () => {
  const [only] = parseScenario(
    '{"$schema": "./scenario.schema.json", "version": 1, "length": "1m"}',
    "mine.json",
  ).variants;
  expect(only?.scenario.length).toBe(60_000);
});

test("all problems are reported at once, with line and column, in the order of the file", () => {
  const text = withLines(
    "traffic:",
    "  - { name: users, to: shop/main, pattern: constant, every: often }",
    "steps:",
    "  - at: soon",
    "    advance: 1m",
    "  - expect:",
    "      - { state: asleep, of: shop/main }",
    "lenght: 1d",
  );
  expect(problemsOf(text)).toEqual([
    expect.stringMatching(
      /^mine\.yaml:4:61: traffic\.users\.every: must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "often"$/,
    ),
    expect.stringMatching(
      /^mine\.yaml:6:9: steps\.1\.at: must be a duration .* after the start, or an ISO 8601 instant/,
    ),
    expect.stringMatching(
      /^mine\.yaml:9:18: steps\.2\.expect\.1\.state: must be one of init, idle, starting, active, gone/,
    ),
    expect.stringMatching(
      /^mine\.yaml:10:1: lenght: unknown key; the known keys are version, name, about, world, .*length.*; did you mean length\?$/,
    ),
  ]);
});

test("unknown names are reported along with values of the wrong shape, each at its place", () => {
  const text = withLines(
    "traffic:",
    "  - { name: users, to: shop/main, pattern: constant, every: often }",
    "  - { name: others, to: shop/dev, pattern: poisson, rate: 1/s }",
    "steps:",
    "  - { advanse: 1m }",
    '  - { at: soon, request: { path: "/projects/{nowhere}" } }',
    "  - repeat: { times: 2, every: often, steps: [{ advanse: 1m }, { restore: nothing }] }",
    "expect:",
    "  - { suspend: 1 }",
    "  - { suspends: 1, of: shop/dev }",
  );
  expect(problemsOf(text)).toEqual([
    expect.stringMatching(/^mine\.yaml:4:61: traffic\.users\.every: must be a duration/),
    expect.stringMatching(/^mine\.yaml:5:25: traffic\.others\.to: "shop\/dev" selects no compute/),
    expect.stringMatching(/^mine\.yaml:7:5: steps\.1: has no action/),
    expect.stringMatching(/^mine\.yaml:7:7: steps\.1\.advanse: unknown key/),
    expect.stringMatching(/^mine\.yaml:8:11: steps\.2\.at: must be a duration/),
    expect.stringMatching(
      /^mine\.yaml:8:34: steps\.2\.request\.path: \{nowhere\} is neither a label nor captured by an earlier step/,
    ),
    expect.stringMatching(/^mine\.yaml:9:32: steps\.3\.repeat\.every: must be a duration/),
    expect.stringMatching(/^mine\.yaml:9:47: steps\.3\.repeat\.steps\.1: has no action/),
    expect.stringMatching(/^mine\.yaml:9:49: steps\.3\.repeat\.steps\.1\.advanse: unknown key/),
    expect.stringMatching(
      /^mine\.yaml:9:75: steps\.3\.repeat\.steps\.2\.restore: no earlier step takes a snapshot "nothing"/,
    ),
    expect.stringMatching(/^mine\.yaml:11:5: expect\.1: must have exactly one measure/),
    expect.stringMatching(/^mine\.yaml:11:7: expect\.1\.suspend: unknown key/),
    expect.stringMatching(
      /^mine\.yaml:12:24: expect\.2\.of: there is no "shop\/dev"; the known names are main, shop, shop\/main, shop\/main\/primary$/,
    ),
  ]);
});

test("unknown names inside an invalid entry are reported too", () => {
  const text = withLines(
    "traffic:",
    "  - { name: users, to: [shop/main, shop/mian], pattern: poisson, rate: 4/fortnight }",
    "steps:",
    '  - repeat: { times: twice, steps: [{ advanse: 1m }, { request: { path: "/projects/{shpo}/branches/{later}" } }] }',
    '  - { advanse: "{shpo}", activity: { too: "{shpo}" } }',
    "  - { request: { path: /projects, capture: { later: id } } }",
    "never:",
    "  - { state: asleep, of: shop/mian }",
  );
  expect(
    problemsOf(text).filter((problem) =>
      / selects no compute|neither a label|there is no "shop/.test(problem),
    ),
  ).toEqual([
    'mine.yaml:4:36: traffic.users.to.2: "shop/mian" selects no compute; the computes are shop/main/primary',
    expect.stringMatching(
      /^mine\.yaml:6:\d+: steps\.1\.repeat\.steps\.2\.request\.path: \{shpo\} is neither a label nor captured by an earlier step/,
    ),
    'mine.yaml:10:26: never.1.of: there is no "shop/mian"; the known names are main, shop, shop/main, shop/main/primary, later',
  ]);
});

test.each([
  ["an invalid world", "version: 1\nlength: 1m\nworld: { sed: 1 }\nexpect: [{ suspends: 1, of: shop/dev }]"],
  [
    "a misspelt world",
    "version: 1\nlength: 1m\nwrold: { projects: { shop: {} } }\nexpect: [{ suspends: 1, of: shop/main }]",
  ],
  [
    "an invalid step that captures a name which another step uses",
    withLines(
      "steps:",
      "  - request: { capture: { found: project.id } }",
      '  - request: { path: "/projects/{found}" }',
    ),
  ],
  [
    "a misspelt capture",
    withLines(
      "steps:",
      "  - request: { path: /projects, captur: { found: project.id } }",
      '  - request: { path: "/projects/{found}" }',
    ),
  ],
  [
    "an invalid step that another step waits for",
    withLines("steps:", "  - { name: deploy, advanse: 1m }", "  - { after: deploy, advance: 1m }"),
  ],
  ["misspelt steps, which would determine the length", withLines("stepps: [{ advance: 1m }]")],
])("%s causes no further problems", (_, text) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(
    problems.filter((problem) => /unknown key|has no action|path: |steps\.1/.test(problem)).length,
  );
  expect(problems).not.toEqual([]);
});

test("a YAML syntax error is reported with its place", () => {
  expect(problemsOf("version: 1\nsteps: [")[0]).toMatch(/^mine\.yaml:2:\d+: /);
  expect(problemsOf("version: 1\nversion: 1")[0]).toMatch(/^mine\.yaml:2:1: this key occurs twice/);
});

test.each([
  ["", /^mine\.yaml:1:1: the file: /],
  ["just text", /^mine\.yaml:1:1: the file: /],
  ["- 1", /^mine\.yaml:1:1: the file: /],
  ["version: 2\nlength: 1m", /^mine\.yaml:1:10: version: /],
  ["length: 1m", /^mine\.yaml:1:1: version: /],
])("%j is not a scenario", (text, message) => {
  expect(problemsOf(text)[0]).toMatch(message);
});

test.each([
  [
    "world",
    "world: { sed: 1 }\nlength: 1m",
    /:2:10: world\.sed: unknown key; the known keys are file, seed, start/,
  ],
  [
    "project",
    "world: { projects: { shop: { branch: {} } } }\nlength: 1m",
    /world\.projects\.shop\.branch: unknown key; the known keys are count, region_id, pg_version, branches/,
  ],
  [
    "compute",
    "world: { projects: { shop: { branches: { main: { computes: { primary: { size: 1 } } } } } } }\nlength: 1m",
    /primary\.size: unknown key; the known keys are type, autoscaling_limit_min_cu/,
  ],
  [
    "step",
    "steps:\n  - { advanse: 1m }",
    /:3:7: steps\.1\.advanse: unknown key; the known keys are name, at, after, request/,
  ],
  [
    "request",
    "steps:\n  - request: { path: /projects, boddy: {} }",
    /steps\.1\.request\.boddy: unknown key; the known keys are method, path, body/,
  ],
  [
    "expectation",
    "length: 1m\nexpect:\n  - { suspend: 1 }",
    /expect\.1\.suspend: unknown key; the known keys are of, with, from, until, state/,
  ],
  [
    "source",
    "length: 1m\ntraffic:\n  - { name: a, to: shop/main, pattern: poisson, rate: 1/s, every: 1s }",
    /traffic\.a\.every: unknown key; the known keys are pattern, rate/,
  ],
])("an unknown key of a %s is rejected and the known keys are listed", (_, rest, message) => {
  const problems = problemsOf(`version: 1\n${rest}`);
  expect(
    problems.some((problem) => message.test(problem)),
    problems.join("\n"),
  ).toBe(true);
});

test.each([
  ["no action", "{ name: idle }", "steps.idle: has no action; add one of request, control, activity"],
  [
    "several actions",
    "{ advance: 1m, snapshot: one }",
    "steps.1: has several actions (advance, snapshot); make each one a separate step",
  ],
])("a step with %s is rejected", (_, step, message) => {
  const problems = problemsOf(withLines("steps:", `  - ${step}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`mine.yaml:4:5: ${message}`);
});

test("a status is an HTTP status, or 0 for a lost connection", () => {
  const step = (status: string) => withLines("steps:", `  - request: { path: /projects, status: ${status} }`);
  for (const status of ["0", "[200, 503]", "599"]) expect(problemsOf(step(status))).toEqual([]);
  for (const status of ["1", "99999", "[600]", "ok"])
    expect(problemsOf(step(status))[0]).toContain("must be an HTTP status such as 201");
});

test("a step may only wait", () => {
  expect(problemsOf(withLines("steps:", "  - at: 5m", "  - after: 1m"))).toEqual([]);
});

test.each([
  ["no measure", "{ of: shop/main }", "must have exactly one measure; the measures are state, projects"],
  ["two measures", "{ suspends: 1, starts: 1 }", "must have exactly one measure but has starts, suspends"],
  ["a state of no compute", "{ state: idle }", "state needs the label of one compute, such as of: shop/main"],
  [
    "a filter that its measure lacks",
    "{ suspends: 1, with: { status: 1 } }",
    "with.status: remove it; suspends has no filters",
  ],
  [
    "another measure's filter",
    "{ requests: 1, with: { action: x } }",
    "with.action: must be one of method, status, code",
  ],
  ["an invalid bound", "{ suspends: many }", "must be an exact value, or {min: …, max: …}, both inclusive"],
  ["a time with an unknown unit", "{ active_time: 5 weeks }", "must be"],
])("an expectation with %s is rejected", (_, expectation, message) => {
  const problems = problemsOf(withLines("length: 1m", "expect:", `  - ${expectation}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^mine\.yaml:5:\d+: expect\.1/);
  expect(problems[0]).toContain(message);
});

test.each([
  [
    "traffic",
    ["length: 1m", "traffic:", "  - { name: a, to: shop/dev, pattern: poisson, rate: 1/s }"],
    '5:20: traffic.a.to: "shop/dev" selects no compute; the computes are shop/main/primary',
  ],
  [
    "an activity",
    ["steps:", "  - activity: { to: shoop/main }"],
    'steps.1.activity.to: "shoop/main" selects no compute; the computes are shop/main/primary',
  ],
  [
    "a state",
    ["length: 1m", "never:", "  - { state: idle, of: shop/dev }"],
    'never.1.of: "shop/dev" selects no compute',
  ],
  [
    "a count",
    ["length: 1m", "always:", "  - { computes: 1, of: shop/dev }"],
    'always.1.of: there is no "shop/dev"; the known names are main, shop, shop/main, shop/main/primary',
  ],
  [
    "an expectation of a step",
    ["steps:", "  - expect: [{ computes: 1, of: nobody }]"],
    'steps.1.expect.1.of: there is no "nobody"',
  ],
  [
    "an account of a request",
    ["steps:", "  - request: { path: /projects, as: nobody }"],
    'steps.1.request.as: there is no account "nobody"; the accounts are main',
  ],
  [
    "a plan that is set",
    ["steps:", "  - set: { plan: { nobody: free } }"],
    'steps.1.set.plan.nobody: there is no account "nobody"',
  ],
])("an unknown label in %s is rejected and the known labels are listed", (_, lines, message) => {
  const problems = problemsOf(withLines(...lines));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(message);
});

test("a reference names a label, or a value that an earlier step has captured", () => {
  const steps = (...lines: string[]) => withLines("steps:", ...lines);
  const capture = '  - request: { path: "/projects/{shop}", capture: { found: project.id } }';
  const use = '  - request: { path: "/projects/{found}" }';
  expect(problemsOf(steps(capture, use))).toEqual([]);
  expect(problemsOf(steps(use, capture))).toEqual([
    "mine.yaml:4:22: steps.1.request.path: {found} is neither a label nor captured by an earlier step; the known names are main, shop, shop/main, shop/main/primary; write {{found}} for literal braces",
  ]);
  const body = '  - request: { method: POST, path: /projects, body: { project: { name: "x-{nowhere}" } } }';
  expect(problemsOf(steps(capture, body))[0]).toContain(
    "steps.2.request.body: {nowhere} is neither a label nor captured by an earlier step; the known names are",
  );
  expect(
    problemsOf(steps("  - request: { path: /projects, capture: { shop: projects.0.id } }"))[0],
  ).toContain('"shop" is already a label; choose another name');
});

test("a step waits for an earlier step only", () => {
  const steps = (after: string) =>
    withLines(
      "steps:",
      "  - { name: deploy, advance: 1m }",
      `  - { after: ${after}, advance: 1m }`,
      "  - { name: later, advance: 1m }",
    );
  expect(problemsOf(steps("deploy + 5m"))).toEqual([]);
  expect(problemsOf(steps("deploy"))).toEqual([]);
  expect(problemsOf(steps("later"))).toEqual([
    'mine.yaml:5:14: steps.2.after: there is no step "later" before this one',
  ]);
  expect(problemsOf(steps("deploy + soon"))[0]).toContain(
    "must be a duration such as 5m, the name of an earlier step, or both: deploy + 5m",
  );
});

test("only a snapshot of an earlier step can be restored", () => {
  const restore = "  - { restore: before }";
  expect(problemsOf(withLines("steps:", "  - { snapshot: before }", restore))).toEqual([]);
  expect(problemsOf(withLines("steps:", restore))).toEqual([
    'mine.yaml:4:16: steps.1.restore: no earlier step takes a snapshot "before"',
  ]);
});

test("a parent is an earlier branch of the same project", () => {
  const branches = (...lines: string[]) =>
    ["version: 1", "length: 1m", "world: { projects: { shop: { branches: {", ...lines, " } } } }"].join("\n");
  expect(problemsOf(branches(" main: {},", " dev: { parent: main }"))).toEqual([]);
  expect(problemsOf(branches(" dev: { parent: main },", " main: {}"))).toEqual([
    'mine.yaml:4:17: world.projects.shop.branches.dev.parent: there is no branch "main" before this one',
  ]);
});

test("two sources with one name are rejected, because they would share a random stream", () => {
  const source = "  - { name: users, to: shop/main, pattern: poisson, rate: 1/s }";
  expect(problemsOf(withLines("length: 1m", "traffic:", source, source.replace("users", "others")))).toEqual(
    [],
  );
  expect(problemsOf(withLines("length: 1m", "traffic:", source, source))).toEqual([
    'mine.yaml:6:13: traffic.2.name: another source is called "users"; each source needs its own name, which selects its random stream',
  ]);
});

test("two projects with one label are rejected, also when count generates one of them", () => {
  const world = (projects: string) => `version: 1\nlength: 1m\nworld: { projects: { ${projects} } }`;
  expect(problemsOf(world("fleet: { count: 2 }, fleet-3: {}"))).toEqual([]);
  expect(problemsOf(world("fleet: { count: 2 }, fleet-2: {}"))[0]).toContain(
    'the label "fleet-2" is used twice',
  );
});

test("a label consists of letters, digits and dashes, and fits into an id", () => {
  const world = (label: string) => `version: 1\nlength: 1m\nworld: { projects: { ${label}: {} } }`;
  expect(problemsOf(world("a".repeat(40)))).toEqual([]);
  expect(problemsOf(world("a".repeat(41)))[0]).toMatch(/must be 1 to 40 characters of a-z, 0-9 and -/);
  expect(problemsOf(world("Shop"))).toHaveLength(1);
  const long = "b".repeat(40);
  const branch = (label: string) =>
    `version: 1\nlength: 1m\nworld: { projects: { shop: { branches: { ${label}: { computes: { primary: {} } } } } } }`;
  expect(problemsOf(branch(long))).toEqual([]);
  expect(problemsOf(branch(long).replace("shop:", `${long}:`))[0]).toContain("is too long");
});

test("without steps, a scenario needs a length", () => {
  expect(problemsOf(withLines("length: 1d"))).toEqual([]);
  expect(problemsOf(withLines())).toEqual([
    "mine.yaml:1:1: length: is required when there are no steps; set it to a duration such as 1d",
  ]);
});

test("a placeholder that the matrix lacks is reported once for all combinations", () => {
  const lines = ["length: ${wait}", "matrix:", "  delay: [60, 300]"];
  expect(problemsOf(withLines(...lines))[0]).toBe(
    'mine.yaml:3:9: length: the matrix has no value "wait" for ${wait}; it has delay',
  );
  expect(problemsOf(withLines("length: ${wait}"))[0]).toBe(
    'mine.yaml:3:9: length: the matrix has no value "wait" for ${wait}; the file has no matrix',
  );
  expect(problemsOf(withLines("length: 1m", "matrix:", "  delay: []"))[0]).toMatch(
    /^mine\.yaml:5:10: matrix\.delay/,
  );
});

test("an unused name of the matrix is rejected, because all of its runs would be the same", () => {
  const unused = (name: string) =>
    `matrix.${name}: \${${name}} is not used in the file, so all of its runs would be the same; use it where the values belong`;
  expect(problemsOf(withLines("length: 1m", "matrix: { seed: { from: 1, to: 3 }, delay: [1] }"))).toEqual([
    `mine.yaml:4:17: ${unused("seed")}, like world: { seed: "\${seed}" }`,
    `mine.yaml:4:44: ${unused("delay")}`,
  ]);
  expect(
    problemsOf(withLines("length: 1m", 'about: "of ${seed}"', "matrix: { seed: { from: 1, to: 3 } }")),
  ).toEqual([]);
  expect(
    problemsOf(withLines("length: 1m", 'about: "of $${seed}"', "matrix: { seed: { from: 1, to: 3 } }")),
  ).toHaveLength(1);
});

test("an invalid matrix hides no problem that does not depend on it", () => {
  const lines = [
    "about: ${text}",
    "steps:",
    '  - { at: "${when}", advance: "${wait}", expext: [] }',
    '  - { request: { path: "/projects/{nowhere}" } }',
    '  - { activity: { to: "${who}" } }',
    "length: ${other}",
  ];
  const problems = (matrix: string) =>
    problemsOf(withLines(...lines, matrix)).map((problem) => problem.replace(/^mine\.yaml:\d+:\d+: /, ""));
  const always = [
    expect.stringMatching(/^steps\.1\.expext: unknown key/),
    expect.stringMatching(/^steps\.2\.request\.path: \{nowhere\}/),
  ];
  expect(problems("matrix: { text: [x], when: [], wait: { from: 2, to: 1 }, who: [{}] }")).toEqual([
    ...always,
    expect.stringMatching(/^length: the matrix has no value "other" for \$\{other\}; it has text$/),
    ...["when", "wait", "who"].map((name) => expect.stringMatching(`^matrix\\.${name}`)),
  ]);
  expect(problems("matrix: [when]")).toEqual([...always, expect.stringMatching(/^matrix: /)]);
});

test("the clock of SQL needs a step with SQL", () => {
  const lines = (step: string) => ["version: 1", "world: { sql_clock: world, projects: { shop: {} } }", step];
  expect(problemsOf(lines("length: 1m").join("\n"))).toEqual([
    expect.stringMatching(/:2:\d+: world\.sql_clock: has no effect without sql steps; leave it out$/),
  ]);
  expect(problemsOf(lines('steps: [{ sql: { on: shop/main, query: "select 1" } }]').join("\n"))).toEqual([]);
});

test("an invalid world, or a world file, hides no problem that does not depend on it", () => {
  const rest = [
    "steps:",
    "  - { after: nothere, advance: 1h }",
    "  - { restore: nothing }",
    '  - { request: { path: "/projects/{shop}", as: somebody } }',
    "  - { activity: { to: shop/main } }",
    "always: [{ state: idle, of: shop/main, from: 2h, until: 1h }]",
  ];
  const problems = [
    expect.stringMatching(/steps\.1\.after: there is no step "nothere" before this one$/),
    expect.stringMatching(/steps\.2\.restore: no earlier step takes a snapshot "nothing"$/),
    expect.stringMatching(/always\.1\.until: must be later than from$/),
  ];
  expect(problemsOf(["version: 1", "world: { file: mine.sqlite }", ...rest].join("\n"))).toEqual(problems);
  expect(problemsOf(["version: 1", "world: { sed: 1 }", ...rest].join("\n"))).toEqual([
    expect.stringMatching(/world\.sed/),
    ...problems,
  ]);
  expect(problemsOf(["version: 1", "foo: 1", ...rest].join("\n"))).toEqual([
    expect.stringMatching(/foo: unknown key/),
    ...problems,
  ]);
});

test("an invalid step hides no time that runs backwards, unless the step may restore the world", () => {
  const steps = (step: string) =>
    problemsOf(
      withLines("steps:", "  - { at: 2h, expect: [] }", `  - ${step}`, "  - { at: 1h, expect: [] }"),
    );
  expect(steps("{ advanse: 1m }").at(-1)).toMatch(
    /steps\.3\.at: the clock cannot move backwards; by this step it is at 2h after the start/,
  );
  expect(steps("{ restor: before }").at(-1)).toMatch(/steps\.2\.restor: unknown key/);
});

test.each([
  [
    "operations: 1, with: { action: start_computee }",
    'with.action: there is no action "start_computee"; did you mean "start_compute"?',
  ],
  [
    "operations: 1, with: { status: done }",
    'with.status: there is no status "done"; the values are scheduling, running, finished, failed, cancelled',
  ],
  [
    "events: 1, with: { type: BranchCreatd }",
    'with.type: there is no type "BranchCreatd"; did you mean "BranchCreated"?',
  ],
  ["requests: 1, with: { method: get }", 'with.method: there is no method "get"; did you mean "GET"?'],
  [
    "requests: 1, with: { code: BRANCH_NOT_FUOND }",
    'with.code: there is no code "BRANCH_NOT_FUOND"; did you mean "BRANCH_NOT_FOUND"?',
  ],
])("a count of an unknown name is rejected: %s", (expectation, message) => {
  const surfaces = { errorCodes: ["BRANCH_NOT_FOUND"], checkFault: () => [] };
  const problems = (text: string) => {
    try {
      parseScenario(withLines("length: 1m", `expect: [{ ${text} }]`), "mine.yaml", surfaces);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(problems(expectation)).toContain(`expect.1.${message}`);
});

test("known codes are those of the API and those that faults of the file answer with", () => {
  const lines = (code: string) =>
    withLines(
      "steps:",
      "  - { fault: { name: odd, effect: { answer: { status: 418, code: TEAPOT } } } }",
      "  - { control: { method: PUT, path: /faults/even, body: { effect: { answer: { status: 418, code: TEACUP } } } } }",
      `expect: [{ requests: 0, with: { code: ${code} } }]`,
    );
  const surfaces = { errorCodes: ["BRANCH_NOT_FOUND"], checkFault: () => [] };
  for (const code of ["TEAPOT", "TEACUP", "BRANCH_NOT_FOUND", '""'])
    parseScenario(lines(code), "mine.yaml", surfaces);
  expect(() => parseScenario(lines("TEASPOON"), "mine.yaml", surfaces)).toThrow(
    'there is no code "TEASPOON"',
  );
});

test.each([
  [
    "the state of a project",
    "expect: [{ state: idle, of: shop }]",
    'expect.1.of: "shop" must select one compute; choose one of shop/main/primary',
  ],
  [
    "the state of several computes",
    'expect: [{ state: idle, of: "*/main" }]',
    'expect.1.of: "*/main" must select one compute; choose one of shop/main/primary, blog/main/primary',
  ],
  [
    "an arrival at a project",
    "steps: [{ activity: { to: shop } }]",
    'steps.1.activity.to: "shop" must select one compute; choose one of shop/main/primary',
  ],
  [
    "a replay to several computes",
    "traffic: [{ name: r, to: [shop/main, blog/main], pattern: replay, file: r.csv }]",
    'traffic.r.to: must select one compute in a replay, but selects shop/main/primary, blog/main/primary; map endpoints to computes under "computes"',
  ],
  [
    "a replay to an unknown compute",
    "traffic: [{ name: r, to: shop/main, pattern: replay, file: r.csv, computes: { x: blog/main, y: blog/mian } }]",
    'traffic.r.computes.y: "blog/mian" selects no compute; the computes are shop/main/primary, blog/main/primary',
  ],
])("%s is rejected, because it needs one compute", (_, line, message) => {
  const problems = problemsOf(`version: 1\nworld: { projects: { shop: {}, blog: {} } }\nlength: 1m\n${line}`);
  expect(problems).toEqual([expect.stringContaining(message)]);
});

test("a problem in a single combination is reported", () => {
  expect(problemsOf(withLines("length: ${length}", "matrix:", "  length: [1m, soon]"))).toEqual([
    'mine.yaml:3:9: length: must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "soon"',
  ]);
});

test("aliases that expand exponentially are rejected", () => {
  const lines = [
    "a: &a [x, x, x, x, x, x, x, x, x]",
    ...["b", "c", "d", "e", "f"].map(
      (name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcde"[index]}`).join(", ")}]`,
    ),
  ];
  expect(problemsOf(`version: 1\n${lines.join("\n")}`)[0]).toMatch(/alias/i);
});

test("sql steps name what is wrong with them", () => {
  expect(
    problemsOf(
      withLines(
        "steps:",
        "  - sql: { on: shop/other, query: select 1 }",
        '  - sql: { on: shop, query: "select {order}" }',
        "  - sql: { on: shop/main, query: \"select '{1,2}'::int[] as list\", capture: { list: 0.list, shop: 0.list } }",
        '  - sql: { on: shop/main, query: "select $1", params: ["{list}"], error: 42601, rows: [{ one: 1 }] }',
        '  - sql: { on: shop/main, query: select 1, error: "42P01", row_count: 1 }',
      ),
    ),
  ).toEqual([
    'mine.yaml:4:16: steps.1.sql.on: "shop/other" selects no compute; the computes are shop/main/primary',
    'mine.yaml:5:16: steps.2.sql.on: "shop" must select one compute; choose one of shop/main/primary',
    "mine.yaml:5:29: steps.2.sql.query: {order} is neither a label nor captured by an earlier step; the known names are main, shop, shop/main, shop/main/primary; write {{order}} for literal braces",
    'mine.yaml:6:98: steps.3.sql.capture.shop: "shop" is already a label; choose another name',
    'mine.yaml:7:74: steps.4.sql.error: must be a SQLSTATE of five characters in quotes, such as "23505", got 42601',
    "mine.yaml:8:71: steps.5.sql.row_count: must not be given with error: a statement that fails returns no rows",
  ]);
});

test("a step with several invalid parts hides no problem of the steps after it", () => {
  const problems = problemsOf(
    [
      "version: 1",
      "world: {}",
      "steps:",
      "  - { name: null, after: { never: 1 }, activity: { name: x } }",
      "  - { advance: 1h }",
      "  - { restore: nothing }",
    ].join("\n"),
  );
  expect(problems.at(-1)).toMatch(/steps\.3\.restore: no earlier step takes a snapshot "nothing"$/);
});
