// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how names of the matrix are written.
import { expect, test } from "vitest";
import { parseScenario, printScenario, ScenarioError } from "../../../src/scenario/file/parse-scenario.ts";

/** Every problem of a file, a line each. */
function problemsOf(text: string): string[] {
  try {
    parseScenario(text, "mine.yaml");
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.message.split("\n");
  }
}

/** A file of which everything is right, with these lines after its world. */
const withLines = (...lines: string[]) =>
  ["version: 1", "world: { projects: { shop: {} } }", ...lines].join("\n");

test("a file with a world, a step and an expectation is a scenario, named after the file", () => {
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
])("the name of %s without its ending is %s, unless the file says another", (fileName, name) => {
  const nameOf = (...lines: string[]) => parseScenario(withLines(...lines), fileName).variants[0]?.name;
  expect(nameOf("length: 1m")).toBe(name);
  expect(nameOf("name: other", "length: 1m")).toBe("other");
});

test("a name with a value of the matrix in it is each run's own", () => {
  const { variants } = parseScenario(
    withLines('name: "on ${plan}"', "length: 1m", "matrix: { plan: [free, paid] }"),
    "mine.yaml",
  );
  expect(variants.map(({ name }) => name)).toEqual(["on free", "on paid"]);
});

test("JSON is YAML, and may name its schema", () => {
  const [only] = parseScenario(
    '{"$schema": "./scenario.schema.json", "version": 1, "length": "1m"}',
    "mine.json",
  ).variants;
  expect(only?.scenario.length).toBe(60_000);
});

test("all that is wrong is told at once, by line and column, in the order of the file", () => {
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
      /^mine\.yaml:4:61: traffic\.0\.every: must be a duration like 90s, 10m, 2h or 7d, or whole milliseconds$/,
    ),
    expect.stringMatching(
      /^mine\.yaml:6:9: steps\.0\.at: must be a duration .* after the start, or an ISO 8601 instant/,
    ),
    expect.stringMatching(
      /^mine\.yaml:9:18: steps\.1\.expect\.0\.state: must be one of init, idle, starting, active, gone/,
    ),
    expect.stringMatching(
      /^mine\.yaml:10:1: lenght: there is no such key here; known are version, name, about, world, .*length/,
    ),
  ]);
});

test("names that nothing has are told beside what has the wrong shape, each where it stands", () => {
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
    expect.stringMatching(/^mine\.yaml:4:61: traffic\.0\.every: must be a duration/),
    expect.stringMatching(/^mine\.yaml:5:25: traffic\.1\.to: "shop\/dev" is no compute/),
    expect.stringMatching(/^mine\.yaml:7:5: steps\.0: does nothing/),
    expect.stringMatching(/^mine\.yaml:7:7: steps\.0\.advanse: there is no such key here/),
    expect.stringMatching(/^mine\.yaml:8:11: steps\.1\.at: must be a duration/),
    expect.stringMatching(
      /^mine\.yaml:8:34: steps\.1\.request\.path: \{nowhere\} is neither a label nor captured above/,
    ),
    expect.stringMatching(/^mine\.yaml:9:32: steps\.2\.repeat\.every: must be a duration/),
    expect.stringMatching(/^mine\.yaml:9:47: steps\.2\.repeat\.steps\.0: does nothing/),
    expect.stringMatching(/^mine\.yaml:9:49: steps\.2\.repeat\.steps\.0\.advanse: there is no such key here/),
    expect.stringMatching(
      /^mine\.yaml:9:75: steps\.2\.repeat\.steps\.1\.restore: no step above takes a snapshot "nothing"/,
    ),
    expect.stringMatching(/^mine\.yaml:11:5: expect\.0: must have one measure/),
    expect.stringMatching(/^mine\.yaml:11:7: expect\.0\.suspend: there is no such key here/),
    expect.stringMatching(
      /^mine\.yaml:12:24: expect\.1\.of: there is no "shop\/dev"; known are main, shop, shop\/main, shop\/main\/primary$/,
    ),
  ]);
});

test("names are told beside a mistake that leaves nothing of what they are in", () => {
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
    problemsOf(text).filter((problem) => / is no compute|neither a label|there is no "shop/.test(problem)),
  ).toEqual([
    'mine.yaml:4:36: traffic.0.to.1: "shop/mian" is no compute; there are shop/main/primary',
    expect.stringMatching(
      /^mine\.yaml:6:\d+: steps\.0\.repeat\.steps\.1\.request\.path: \{shpo\} is neither a label nor captured above/,
    ),
    'mine.yaml:10:26: never.0.of: there is no "shop/mian"; known are main, shop, shop/main, shop/main/primary',
  ]);
});

test.each([
  [
    "a world that is wrong",
    "version: 1\nlength: 1m\nworld: { sed: 1 }\nexpect: [{ suspends: 1, of: shop/dev }]",
  ],
  [
    "a world that is written wrongly",
    "version: 1\nlength: 1m\nwrold: { projects: { shop: {} } }\nexpect: [{ suspends: 1, of: shop/main }]",
  ],
  [
    "a step that captures what another uses",
    withLines(
      "steps:",
      "  - request: { capture: { found: project.id } }",
      '  - request: { path: "/projects/{found}" }',
    ),
  ],
  [
    "a key that captures, written wrongly",
    withLines(
      "steps:",
      "  - request: { path: /projects, captur: { found: project.id } }",
      '  - request: { path: "/projects/{found}" }',
    ),
  ],
  [
    "a step that another comes after",
    withLines("steps:", "  - { name: deploy, advanse: 1m }", "  - { after: deploy, advance: 1m }"),
  ],
  ["steps, which would say how long it goes on", withLines("stepps: [{ advance: 1m }]")],
])("of %s, nothing is told but that", (_, text) => {
  const problems = problemsOf(text);
  expect(problems).toHaveLength(
    problems.filter((problem) => /no such key|does nothing|path: |steps\.0/.test(problem)).length,
  );
  expect(problems).not.toEqual([]);
});

test("what is no YAML is told with its place", () => {
  expect(problemsOf("version: 1\nsteps: [")[0]).toMatch(/^mine\.yaml:2:\d+: /);
  expect(problemsOf("version: 1\nversion: 1")[0]).toMatch(/^mine\.yaml:2:1: .*unique/i);
});

test.each([
  ["", /^mine\.yaml:1:1: the file: /],
  ["just text", /^mine\.yaml:1:1: the file: /],
  ["- 1", /^mine\.yaml:1:1: the file: /],
  ["version: 2\nlength: 1m", /^mine\.yaml:1:10: version: /],
  ["length: 1m", /^mine\.yaml:1:1: version: /],
])("%j is no scenario", (text, told) => {
  expect(problemsOf(text)[0]).toMatch(told);
});

test.each([
  [
    "world",
    "world: { sed: 1 }\nlength: 1m",
    /:2:10: world\.sed: there is no such key here; known are file, seed, start/,
  ],
  [
    "project",
    "world: { projects: { shop: { branch: {} } } }\nlength: 1m",
    /world\.projects\.shop\.branch: there is no such key here; known are count, region_id, pg_version, branches/,
  ],
  [
    "compute",
    "world: { projects: { shop: { branches: { main: { computes: { primary: { size: 1 } } } } } } }\nlength: 1m",
    /primary\.size: there is no such key here; known are type, autoscaling_limit_min_cu/,
  ],
  [
    "step",
    "steps:\n  - { advanse: 1m }",
    /:3:7: steps\.0\.advanse: there is no such key here; known are name, at, after, request/,
  ],
  [
    "request",
    "steps:\n  - request: { path: /projects, boddy: {} }",
    /steps\.0\.request\.boddy: there is no such key here; known are method, path, body/,
  ],
  [
    "expectation",
    "length: 1m\nexpect:\n  - { suspend: 1 }",
    /expect\.0\.suspend: there is no such key here; known are of, with, from, until, state/,
  ],
  [
    "source",
    "length: 1m\ntraffic:\n  - { name: a, to: shop/main, pattern: poisson, rate: 1/s, every: 1s }",
    /traffic\.0\.every: there is no such key here; known are pattern, rate/,
  ],
])("a key of a %s that nobody knows is refused with those that are known", (_, rest, told) => {
  const problems = problemsOf(`version: 1\n${rest}`);
  expect(
    problems.some((problem) => told.test(problem)),
    problems.join("\n"),
  ).toBe(true);
});

test.each([
  ["nothing", "{ name: idle }", "steps.0: does nothing; it needs one of request, control, activity"],
  [
    "several things",
    "{ advance: 1m, snapshot: one }",
    "steps.0: does several things: advance, snapshot; make them steps of their own",
  ],
])("a step that does %s is refused", (_, step, told) => {
  const problems = problemsOf(withLines("steps:", `  - ${step}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`mine.yaml:4:5: ${told}`);
});

test("a status is one of HTTP, or that of a lost connection", () => {
  const step = (status: string) => withLines("steps:", `  - request: { path: /projects, status: ${status} }`);
  for (const status of ["0", "[200, 503]", "599"]) expect(problemsOf(step(status))).toEqual([]);
  for (const status of ["1", "99999", "[600]", "ok"])
    expect(problemsOf(step(status))[0]).toContain("must be a status like 201");
});

test("a step that only waits for its time does enough", () => {
  expect(problemsOf(withLines("steps:", "  - at: 5m", "  - after: 1m"))).toEqual([]);
});

test.each([
  ["no measure", "{ of: shop/main }", "must have one measure: state, projects"],
  ["two measures", "{ suspends: 1, starts: 1 }", "must have one measure, and has starts, suspends"],
  ["the state of nobody", "{ state: idle }", "a state is that of one compute: of: shop/main"],
  [
    "a filter that its measure does not have",
    "{ suspends: 1, with: { status: 1 } }",
    "with.status: leave it out; suspends has no kinds",
  ],
  [
    "another measure's filter",
    "{ requests: 1, with: { action: x } }",
    "with.action: must be one of method, status, code",
  ],
  ["a bound that is none", "{ suspends: many }", "must be what it is, or {min: …, max: …}, both included"],
  ["a time without a unit that exists", "{ active_time: 5 weeks }", "must be"],
])("an expectation with %s is refused", (_, expectation, told) => {
  const problems = problemsOf(withLines("length: 1m", "expect:", `  - ${expectation}`));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^mine\.yaml:5:\d+: expect\.0/);
  expect(problems[0]).toContain(told);
});

test.each([
  [
    "traffic",
    ["length: 1m", "traffic:", "  - { name: a, to: shop/dev, pattern: poisson, rate: 1/s }"],
    '5:20: traffic.0.to: "shop/dev" is no compute; there are shop/main/primary',
  ],
  [
    "an activity",
    ["steps:", "  - activity: { to: shoop/main }"],
    'steps.0.activity.to: "shoop/main" is no compute; there are shop/main/primary',
  ],
  [
    "a state",
    ["length: 1m", "never:", "  - { state: idle, of: shop/dev }"],
    'never.0.of: "shop/dev" is no compute',
  ],
  [
    "a count",
    ["length: 1m", "always:", "  - { computes: 1, of: shop/dev }"],
    'always.0.of: there is no "shop/dev"; known are main, shop, shop/main, shop/main/primary',
  ],
  [
    "an expectation of a step",
    ["steps:", "  - expect: [{ computes: 1, of: nobody }]"],
    'steps.0.expect.0.of: there is no "nobody"',
  ],
  [
    "an account of a request",
    ["steps:", "  - request: { path: /projects, as: nobody }"],
    'steps.0.request.as: there is no account "nobody"; there are main',
  ],
  [
    "a plan that is set",
    ["steps:", "  - set: { plan: { nobody: free } }"],
    'steps.0.set.plan.nobody: there is no account "nobody"',
  ],
])("a label in %s that nothing has is refused, with those that there are", (_, lines, told) => {
  const problems = problemsOf(withLines(...lines));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(told);
});

test("a reference is to a label, or to what a step above has captured: not below, and not nowhere", () => {
  const steps = (...lines: string[]) => withLines("steps:", ...lines);
  const capture = '  - request: { path: "/projects/{shop}", capture: { found: project.id } }';
  const use = '  - request: { path: "/projects/{found}" }';
  expect(problemsOf(steps(capture, use))).toEqual([]);
  expect(problemsOf(steps(use, capture))).toEqual([
    "mine.yaml:4:22: steps.0.request.path: {found} is neither a label nor captured above; known are main, shop, shop/main, shop/main/primary; {{found}} is the text itself",
  ]);
  const body = '  - request: { method: POST, path: /projects, body: { project: { name: "x-{nowhere}" } } }';
  expect(problemsOf(steps(capture, body))[0]).toContain(
    "steps.1.request.body: {nowhere} is neither a label nor captured above; known are",
  );
  expect(
    problemsOf(steps("  - request: { path: /projects, capture: { shop: projects.0.id } }"))[0],
  ).toContain('"shop" is a label already');
});

test("a step after another one names one that is above it", () => {
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
    'mine.yaml:5:14: steps.1.after: there is no step "later" above this one',
  ]);
  expect(problemsOf(steps("deploy + soon"))[0]).toContain(
    "must be a duration like 5m, the name of a step above, or both: deploy + 5m",
  );
});

test("only a snapshot that was taken above can be restored", () => {
  const restore = "  - { restore: before }";
  expect(problemsOf(withLines("steps:", "  - { snapshot: before }", restore))).toEqual([]);
  expect(problemsOf(withLines("steps:", restore))).toEqual([
    'mine.yaml:4:16: steps.0.restore: no step above takes a snapshot "before"',
  ]);
});

test("a parent is a branch above its child in the same project", () => {
  const branches = (...lines: string[]) =>
    ["version: 1", "length: 1m", "world: { projects: { shop: { branches: {", ...lines, " } } } }"].join("\n");
  expect(problemsOf(branches(" main: {},", " dev: { parent: main }"))).toEqual([]);
  expect(problemsOf(branches(" dev: { parent: main },", " main: {}"))).toEqual([
    'mine.yaml:4:17: world.projects.shop.branches.dev.parent: there is no branch "main" above this one',
  ]);
});

test("two sources of one name would share a stream of chance", () => {
  const source = "  - { name: users, to: shop/main, pattern: poisson, rate: 1/s }";
  expect(problemsOf(withLines("length: 1m", "traffic:", source, source.replace("users", "others")))).toEqual(
    [],
  );
  expect(problemsOf(withLines("length: 1m", "traffic:", source, source))).toEqual([
    'mine.yaml:6:13: traffic.1.name: there is a source "users" already: each has a stream of chance by its name',
  ]);
});

test("two projects of one label are refused, also where count writes them out", () => {
  const world = (projects: string) => `version: 1\nlength: 1m\nworld: { projects: { ${projects} } }`;
  expect(problemsOf(world("fleet: { count: 2 }, fleet-3: {}"))).toEqual([]);
  expect(problemsOf(world("fleet: { count: 2 }, fleet-2: {}"))[0]).toContain(
    'the label "fleet-2" is there twice',
  );
});

test("a label is of letters, digits and dashes, and fits into an id", () => {
  const world = (label: string) => `version: 1\nlength: 1m\nworld: { projects: { ${label}: {} } }`;
  expect(problemsOf(world("a".repeat(40)))).toEqual([]);
  expect(problemsOf(world("a".repeat(41)))[0]).toMatch(/must be 1 to 40 of a-z, 0-9 and -|Invalid key/);
  expect(problemsOf(world("Shop"))).toHaveLength(1);
  const long = "b".repeat(40);
  const branch = (label: string) =>
    `version: 1\nlength: 1m\nworld: { projects: { shop: { branches: { ${label}: { computes: { primary: {} } } } } } }`;
  expect(problemsOf(branch(long))).toEqual([]);
  expect(problemsOf(branch(long).replace("shop:", `${long}:`))[0]).toContain("is too long");
});

test("without steps, a scenario says how long it goes on", () => {
  expect(problemsOf(withLines("length: 1d"))).toEqual([]);
  expect(problemsOf(withLines())).toEqual([
    "mine.yaml:1:1: length: is needed where there are no steps: how long it goes on, like 1d",
  ]);
});

test("a name that the matrix does not have is refused where it stands, once for all combinations", () => {
  const lines = ["length: ${wait}", "matrix:", "  delay: [60, 300]"];
  expect(problemsOf(withLines(...lines))[0]).toBe(
    "mine.yaml:3:9: length: there is no ${wait} in the matrix; known are delay",
  );
  expect(problemsOf(withLines("length: ${wait}"))[0]).toBe(
    "mine.yaml:3:9: length: there is no ${wait} in the matrix; the file has none",
  );
  expect(problemsOf(withLines("length: 1m", "matrix:", "  delay: []"))[0]).toMatch(
    /^mine\.yaml:5:10: matrix\.delay/,
  );
});

test("a name of the matrix that nothing uses is refused: all of its runs would be the same", () => {
  const unused = (name: string) =>
    `matrix.${name}: nothing in the file is \${${name}}, so that all of its runs are the same; put it where its values belong`;
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

test("beside a matrix that is wrong, all else is told that does not hang on it", () => {
  const lines = [
    "about: ${told}",
    "steps:",
    '  - { at: "${when}", advance: "${wait}", expext: [] }',
    '  - { request: { path: "/projects/{nowhere}" } }',
    '  - { activity: { to: "${who}" } }',
    "length: ${other}",
  ];
  const told = (matrix: string) =>
    problemsOf(withLines(...lines, matrix)).map((problem) => problem.replace(/^mine\.yaml:\d+:\d+: /, ""));
  const always = [
    expect.stringMatching(/^steps\.0\.expext: there is no such key/),
    expect.stringMatching(/^steps\.1\.request\.path: \{nowhere\}/),
  ];
  expect(told("matrix: { told: [x], when: [], wait: { from: 2, to: 1 }, who: [{}] }")).toEqual([
    ...always,
    expect.stringMatching(/^length: there is no \$\{other\} in the matrix; known are told$/),
    ...["when", "wait", "who"].map((name) => expect.stringMatching(`^matrix\\.${name}`)),
  ]);
  expect(told("matrix: [when]")).toEqual([...always, expect.stringMatching(/^matrix: /)]);
});

test("where the world is wrong, and where it is in a file, all else is told that does not hang on it", () => {
  const rest = [
    "steps:",
    "  - { after: nothere, advance: 1h }",
    "  - { restore: nothing }",
    '  - { request: { path: "/projects/{shop}", as: somebody } }',
    "  - { activity: { to: shop/main } }",
    "always: [{ state: idle, of: shop/main, from: 2h, until: 1h }]",
  ];
  const told = [
    expect.stringMatching(/steps\.0\.after: there is no step "nothere" above this one$/),
    expect.stringMatching(/steps\.1\.restore: no step above takes a snapshot "nothing"$/),
    expect.stringMatching(/always\.0\.until: must be after from$/),
  ];
  expect(problemsOf(["version: 1", "world: { file: mine.sqlite }", ...rest].join("\n"))).toEqual(told);
  expect(problemsOf(["version: 1", "world: { sed: 1 }", ...rest].join("\n"))).toEqual([
    expect.stringMatching(/world\.sed/),
    ...told,
  ]);
  expect(problemsOf(["version: 1", "foo: 1", ...rest].join("\n"))).toEqual([
    expect.stringMatching(/foo: there is no such key/),
    ...told,
  ]);
});

test("beside a step that cannot be read, times that run backwards are told, unless that one may take the world back", () => {
  const steps = (step: string) =>
    problemsOf(
      withLines("steps:", "  - { at: 2h, expect: [] }", `  - ${step}`, "  - { at: 1h, expect: [] }"),
    );
  expect(steps("{ advanse: 1m }").at(-1)).toMatch(
    /steps\.2\.at: the clock only goes forward, and has come to 2h after the start/,
  );
  expect(steps("{ restor: before }").at(-1)).toMatch(/steps\.1\.restor: there is no such key/);
});

test.each([
  [
    "operations: 1, with: { action: start_computee }",
    'with.action: there is no action "start_computee"; did you mean "start_compute"?',
  ],
  [
    "operations: 1, with: { status: done }",
    'with.status: there is no status "done"; there are scheduling, running, finished, failed, cancelled',
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
])("what is counted under a name that nothing has is refused: %s", (expectation, told) => {
  const surfaces = { errorCodes: ["BRANCH_NOT_FOUND"], checkFault: () => [] };
  const problems = (text: string) => {
    try {
      parseScenario(withLines("length: 1m", `expect: [{ ${text} }]`), "mine.yaml", surfaces);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(problems(expectation)).toContain(`expect.0.${told}`);
});

test("codes are those of the API, and those that faults of the file answer with", () => {
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
    'expect.0.of: "shop" is not one compute; there are shop/main/primary',
  ],
  [
    "the state of many",
    'expect: [{ state: idle, of: "*/main" }]',
    'expect.0.of: "*/main" is not one compute; there are shop/main/primary, blog/main/primary',
  ],
  [
    "an arrival at a project",
    "steps: [{ activity: { to: shop } }]",
    'steps.0.activity.to: "shop" is not one compute; there are shop/main/primary',
  ],
  [
    "a replay on several",
    "traffic: [{ name: r, to: [shop/main, blog/main], pattern: replay, file: r.csv }]",
    "traffic.0.to: is one compute in a replay, and this is shop/main/primary, blog/main/primary; say under computes what stands for which",
  ],
  [
    "a replay for a compute that is not there",
    "traffic: [{ name: r, to: shop/main, pattern: replay, file: r.csv, computes: { x: blog/main, y: blog/mian } }]",
    'traffic.0.computes.y: "blog/mian" is no compute; there are shop/main/primary, blog/main/primary',
  ],
])("where one compute is meant, %s is refused", (_, line, told) => {
  const problems = problemsOf(`version: 1\nworld: { projects: { shop: {}, blog: {} } }\nlength: 1m\n${line}`);
  expect(problems).toEqual([expect.stringContaining(told)]);
});

test("what is wrong in one combination alone is told", () => {
  expect(problemsOf(withLines("length: ${length}", "matrix:", "  length: [1m, soon]"))).toEqual([
    "mine.yaml:3:9: length: must be a duration like 90s, 10m, 2h or 7d, or whole milliseconds",
  ]);
});

test("aliases that multiply without end are refused", () => {
  const lines = [
    "a: &a [x, x, x, x, x, x, x, x, x]",
    ...["b", "c", "d", "e", "f"].map(
      (name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcde"[index]}`).join(", ")}]`,
    ),
  ];
  expect(problemsOf(`version: 1\n${lines.join("\n")}`)[0]).toMatch(/alias/i);
});

test("printed and read again, a file says the same", () => {
  const text = withLines(
    "# what it shows",
    "steps:",
    "  - { name: first, at: 1m, advance: { until: settled } }",
    'about: "two\\nlines"',
  );
  const file = parseScenario(text, "mine.yaml");
  const again = parseScenario(printScenario(file), "mine.yaml");
  expect(again.source).toEqual(file.source);
  expect(again.variants).toEqual(file.variants);
});
