import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { failuresOf, runScenarioFile, runScenarioText } from "../../support/scenario/scenario-run.ts";
import { SHIPPED, SIMULATED, YEAR } from "../../support/scenario/shipped-scenarios.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const QUICK = SIMULATED.slice(0, -3);

describe("shipped scenarios", () => {
  test("there are at least fourteen scenarios, and the year of a fleet", () => {
    expect(SHIPPED.length).toBeGreaterThanOrEqual(14);
    expect(SHIPPED.at(-1)).toBe(YEAR);
  });

  test.each(QUICK)("%s passes", async (file) => {
    expect(failuresOf(await runScenarioFile(file))).toEqual([]);
  });

  test.each(QUICK)("%s has the same result on a file and in memory", async (file) => {
    const kept = await runScenarioFile(file, { keep: join(testDirectory(), "world") });
    expect(kept).toEqual(await runScenarioFile(file));
  });
});

/** Runs these lines in a world with one project. */
const played = async (...lines: string[]) => {
  const [verdict] = await runScenarioText(
    ["version: 1", "world: { start_delay: 2s, projects: { shop: {} } }", ...lines].join("\n"),
  );
  if (verdict === undefined) throw new Error("nothing was played");
  return verdict;
};
const whatOf = ({ failures }: Awaited<ReturnType<typeof played>>) => failures.map(({ what }) => what);

test("a failed expectation fails the run", async () => {
  const verdict = await played(
    "steps:",
    "  - at: 4m",
    "    expect: [{ state: idle, of: shop/main }]",
    "  - at: 6m",
    "    expect: [{ state: idle, of: shop/main }]",
  );
  expect(verdict).toMatchObject({ verdict: "failed", repeat: "standin run mine.yaml --seed 1" });
  expect(verdict.steps.map(({ place, ok }) => [place, ok])).toEqual([
    ["1", false],
    ["2", true],
  ]);
  expect(verdict.failures).toMatchObject([
    {
      what: "step 1",
      at: "2026-01-01T00:04:00.000Z",
      expected: "state of shop/main: idle",
      actual: "active",
    },
  ]);
});

test("a failure about a compute names the event that changed its state", async () => {
  const { failures } = await played("steps:", "  - at: 6m", "    expect: [{ state: active, of: shop/main }]");
  expect(failures).toMatchObject([
    {
      ...{ line: 5, column: 14, expectation: "step 1" },
      broken_by: "2026-01-01T00:05:00.000Z ComputeSuspended shop/main/primary by autosuspend",
    },
  ]);
});

test("a request checks its status, parts of the answer and captured values", async () => {
  const request = (rest: string) => played("steps:", `  - request: { path: "/projects/{shop}", ${rest} }`);
  expect(
    (await request("status: 200, answer: { project.name: shop }, capture: { id: project.id }")).verdict,
  ).toBe("passed");
  expect((await request("status: 404")).failures).toMatchObject([
    { expected: "status 404", actual: "status 200" },
  ]);
  expect((await request("status: [404, 200]")).verdict).toBe("passed");
  expect((await request("answer: { project.name: blog }")).failures).toMatchObject([
    { expected: 'project.name: "blog"', actual: 'project.name: "shop"' },
  ]);
  expect((await request("capture: { id: project.nothing }")).failures).toMatchObject([
    { actual: "no value" },
  ]);
});

test("a status of 400 or more is an error unless the step expects it", async () => {
  const errors = async (rest: string) =>
    (await played("steps:", `  - request: { path: /projects/nobody${rest} }`)).measures["errors"];
  expect(await errors("")).toBe(1);
  expect(await errors(", status: 404")).toBe(0);
});

test("an always condition is checked between steps, at every instant", async () => {
  const verdict = await played("always:", "  - { state: active, of: shop/main }", "length: 10m");
  expect(verdict.failures).toMatchObject([
    { what: "always.1", at: "2026-01-01T00:05:00.000Z", actual: "idle" },
  ]);
});

test("the start of a window is inclusive and its end exclusive", async () => {
  const never = (window: string) =>
    played("never:", `  - { state: idle, of: shop/main, ${window} }`, "length: 10m");
  expect(whatOf(await never("until: 5m"))).toEqual([]);
  expect(whatOf(await never("until: 300001ms"))).toEqual(["never.1"]);
  const wakes = (from: string) =>
    played(
      "never:",
      `  - { state: active, of: shop/main, from: "${from}" }`,
      "steps:",
      "  - { at: 10m, activity: { to: shop/main } }",
      "length: 11m",
    );
  expect(whatOf(await wakes("10m 2s"))).toEqual(["never.1"]);
  expect(whatOf(await wakes("11m"))).toEqual(["never.1"]);
});

test("parallel sequences run independently", async () => {
  const { steps } = await played(
    "steps:",
    "  - parallel:",
    "      - [{ after: 2m, name: late }, { after: 2m, name: later }]",
    "      - [{ after: 3m, name: between }]",
  );
  expect(steps.map(({ place, name }) => `${place} ${name}`)).toEqual([
    "1.1.1 late",
    "1.2.1 between",
    "1.1.2 later",
    "1 parallel",
  ]);
});

const stepsOf = ({ steps }: Awaited<ReturnType<typeof played>>) =>
  steps.map(({ name, at }) => `${at.slice(11, 19)} ${name}`);

test("a step can wait for a step of a parallel sequence, and sees its captured values", async () => {
  const verdict = await played(
    "steps:",
    "  - parallel:",
    '      - [{ name: deploy, at: 10m, advance: 20m }, { name: ask, request: { path: "/projects/{shop}/endpoints", capture: { found: endpoints.0.id } } }]',
    "      - [{ name: check, after: deploy + 5m, expect: [{ projects: 1 }] }]",
    '      - [{ name: click, after: ask, activity: { to: "{found}", outcome: waits } }]',
  );
  expect(stepsOf(verdict)).toEqual([
    "00:30:00 deploy",
    "00:30:00 ask",
    "00:30:00 click",
    "00:35:00 check",
    "00:35:00 parallel",
  ]);
  expect(verdict.failures).toEqual([]);
});

test("a step waits for the nearest earlier step of that name, anew in every round", async () => {
  const lanes =
    "parallel: [[{ name: deploy, advance: 20m }], [{ parallel: [[{ name: check, after: deploy }], [{ name: early, advance: 1m }]] }]]";
  const verdict = await played(
    "steps:",
    "  - { name: deploy, advance: 1m }",
    `  - repeat: { times: 2, steps: [{ ${lanes} }] }`,
  );
  expect(stepsOf(verdict).filter((step) => /check|early/.test(step))).toEqual([
    ...["00:02:00 early", "00:21:00 check", "00:22:00 early", "00:41:00 check"],
  ]);
  expect(verdict.failures).toEqual([]);
});

test("rounds start at their interval", async () => {
  const { steps } = await played(
    "steps:",
    "  - repeat: { times: 3, every: 1m, steps: [{ after: 10s, name: round }] }",
  );
  expect(steps.filter(({ name }) => name === "round").map(({ at }) => at.slice(14, 19))).toEqual([
    "00:10",
    "01:10",
    "02:10",
  ]);
});

test("a delay counts from the end of the named step", async () => {
  const { steps } = await played(
    "steps:",
    "  - { name: deploy, advance: 1m }",
    "  - { advance: 10m }",
    "  - { name: last, after: deploy + 30m }",
  );
  expect(steps.at(-1)?.at).toBe("2026-01-01T00:31:00.000Z");
});

test("traffic depends on the seed alone", async () => {
  const text =
    "version: 1\nworld: { projects: { shop: {} } }\ntraffic: [{ name: a, to: shop/main, pattern: poisson, rate: 1/min }]\nlength: 1h";
  const state = async (seed: number) => (await runScenarioText(text, "mine.yaml", { seed }))[0]?.state;
  expect(await state(7)).toBe(await state(7));
  expect(await state(8)).not.toBe(await state(7));
});

test("adding a source does not change the arrivals of others", async () => {
  const source = (name: string, to: string) =>
    `  - { name: ${name}, to: ${to}, pattern: poisson, rate: 1/min }`;
  const measured = async (...sources: string[]) => {
    const text = [
      "version: 1",
      "world: { projects: { shop: {}, blog: {} } }",
      "length: 1h",
      "traffic:",
      ...sources,
    ].join("\n");
    const timeline = (await runScenarioText(text))[0]?.timelines.find(
      ({ label }) => label === "shop/main/primary",
    );
    return timeline;
  };
  expect(await measured(source("blog", "blog/main"), source("shop", "shop/main"))).toEqual(
    await measured(source("shop", "shop/main")),
  );
});

test("each combination of a matrix is a separate run with its own repeat command", async () => {
  const text = [
    "version: 1",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the matrix.
    'world: { projects: { shop: { branches: { main: { computes: { primary: { suspend_timeout_seconds: "${delay}" } } } } } } }',
    "length: 20m",
    "matrix: { delay: [60, 300] }",
  ].join("\n");
  const verdicts = await runScenarioText(text);
  expect(verdicts.map(({ values, measures }) => [values["delay"], measures["active_time"]])).toEqual([
    [60, 60_000],
    [300, 300_000],
  ]);
  expect(verdicts[0]?.repeat).toBe("standin run mine.yaml --only 'mine (delay 60)' --seed 1");
});

test("the state at the end is compared with the expected one", async () => {
  const { state } = await played("length: 1m");
  expect((await played("length: 1m", `state: "${state}"`)).verdict).toBe("passed");
  expect(whatOf(await played("length: 10m", `state: "${state}"`))).toEqual(["state"]);
});

test("a rejected control call ends the run with its reason", async () => {
  await expect(
    played("steps:", "  - control: { method: POST, path: /clock/advance, body: { by: never } }"),
  ).rejects.toThrow(/^POST \/_sim\/clock\/advance was rejected: .*by/);
});

test("after a restore by the control API the world is measured anew and its traffic repeats", async () => {
  const lines = (restore: string) => [
    "traffic: [{ name: clicks, to: shop/main, pattern: constant, every: 1h }]",
    `steps: [{ at: 90m, snapshot: s }, { at: 150m, advance: 1m }, { ${restore} }, { expect: [{ state: idle, of: shop/main }] }]`,
    "length: 6h",
    "expect: [{ state: idle, of: shop/main }, { activities: 9 }]",
  ];
  const byStep = await played(...lines("at: 4h 1m, restore: s"));
  const byCall = await played(...lines("at: 4h 1m, control: { method: POST, path: /snapshots/s/restore }"));
  expect(byCall.failures).toEqual([]);
  expect([byCall.measures, byCall.state]).toEqual([byStep.measures, byStep.state]);
});

test("each round takes a new snapshot, even if a call deleted the previous one", async () => {
  const text = `version: 1
world: { projects: { shop: {} } }
steps:
  - repeat:
      times: 3
      every: 1h
      steps:
        - snapshot: s
        - request: { method: POST, path: "/projects/{shop}/branches", body: {} }
        - advance: 10m
        - expect: [{ branches: 2 }]
        - restore: s
        - expect: [{ branches: 1 }]
        - advance: 20m
  - repeat: { times: 2, steps: [{ snapshot: s }, { control: { method: DELETE, path: /snapshots/s } }] }
`;
  const [verdict] = await runScenarioText(text);
  expect(verdict).toMatchObject({ verdict: "passed", ended_at: "2026-01-01T02:20:00.000Z" });
});

test("resources are counted within the world, an account, a project, a branch or a compute, inclusive", async () => {
  const counts = [
    ["", [3, 4, 5]],
    ["other", [1, 1, 1]],
    ["shop", [1, 2, 3]],
    ["shop/dev", [0, 1, 2]],
    ["shop/dev/primary", [0, 0, 1]],
  ] as const;
  const expected = counts.flatMap(([of, numbers]) =>
    ["projects", "branches", "computes"].map((measure, index) =>
      JSON.stringify({ [measure]: numbers[index], ...(of && { of }) }),
    ),
  );
  const computes = "{ computes: { primary: {}, replica: { type: read_only } } }";
  const projects = `{ shop: { branches: { main: { computes: { primary: {} } }, dev: ${computes} } }, blog: {} }`;
  const [verdict] = await runScenarioText(
    `version: 1\nlength: 1m\nworld: { projects: ${projects}, accounts: { other: { projects: { alone: {} } } } }\nexpect: [${expected.join(", ")}]`,
  );
  expect(verdict === undefined ? undefined : failuresOf([verdict])).toEqual([]);
});

test("a repeated step has the round and what an earlier step of its round captured, also after a retry", async () => {
  const verdict = await played(
    "steps:",
    "  - { fault: { name: twice, on: { operation: createProjectBranch }, when: { every: 2 }, effect: { answer: { status: 503 } } } }",
    "  - repeat:",
    "      times: 3",
    "      every: 1h",
    "      steps:",
    '        - { request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: "dev-{loop}" } }, answer: { branch.name: "dev-{loop}" }, capture: { dev: branch.id }, retry: { on: [503], every: 10s, times: 1 } } }',
    '        - { request: { path: "/projects/{shop}/branches/{dev}", answer: { branch.name: "dev-{loop}" } } }',
    "expect: [{ branches: 4 }]",
  );
  expect(verdict.failures).toEqual([]);
});

test("{loop} without a repeat is an error", async () => {
  const request = '{ request: { path: "/projects/{loop}" } }';
  await expect(played(`steps: [${request}]`)).rejects.toThrow("{loop} is neither a label nor captured");
});

test("a body can have instants relative to the clock; a wrong offset is an error", async () => {
  const create = (at: string) =>
    `steps: [{ at: 1h, request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: dev, expires_at: "${at}" } }, answer: { branch.expires_at: "2026-01-02T01:00:00Z" } } }]`;
  const { failures } = await played(create("{{now+24h}}"));
  expect(failures).toEqual([]);
  await expect(played(create("{{now+soon}}"))).rejects.toThrow(
    "{{now+soon}}: must have a duration after the sign, such as {{now+24h}}",
  );
});

test("a scenario has constant durations unless it says otherwise; varied ones depend on the seed only", async () => {
  const waitOf = async (world: string) => {
    const text = `version: 1
world: { ${world} projects: { shop: {} } }
steps:
  - { at: 10m, activity: { to: shop/main, outcome: waits } }
expect:
  - { wait_max: { min: 1ms } }
`;
    const [verdict] = await runScenarioText(text);
    return verdict?.measures["wait_max"];
  };
  expect(await waitOf("")).toBe(3_000);
  expect(await waitOf("durations: constant,")).toBe(3_000);
  const varied = await waitOf("durations: varied,");
  expect(varied).not.toBe(3_000);
  expect(await waitOf("durations: varied,")).toBe(varied);
  expect(await waitOf("seed: 2, durations: varied,")).not.toBe(varied);
});
