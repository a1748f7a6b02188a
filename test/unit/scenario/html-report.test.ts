import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { htmlReport } from "../../../src/scenario/report/html.ts";
import { runScenarioText } from "../../support/scenario/scenario-run.ts";

const SCENARIO = [
  "version: 1",
  "world: { start_delay: 2s, projects: { shop: {} } }",
  "length: 1d",
  "traffic: [{ pattern: poisson, to: shop/main, rate: 2/h, name: web }]",
  "steps:",
  "  - { name: '<b>&\"x', fault: { name: slow, on: { action: start_compute }, when: { every: 3 }, effect: { start_slower: { by: 20s } } } }",
  '  - { at: 12h, request: { method: POST, path: "/projects/{shop}/branches", body: { branch: { name: dev } } } }',
  "always: [{ branches: { max: 1 } }]",
].join("\n");

const documentOf = (html: string) => parseHTML(html).document;

test("the HTML report is one file, the same for the same runs, with every text escaped", async () => {
  const html = htmlReport(await runScenarioText(SCENARIO));
  expect(htmlReport(await runScenarioText(SCENARIO))).toBe(html);
  expect(html).not.toMatch(/\b(src|href)="(?!#)|@import|url\(|<script/);
  expect(html).not.toContain("<b>");
  expect(html).toContain("&lt;b&gt;&amp;&quot;x");
});

test("the timeline shows computes, arrivals, operations, faults and steps, and marks failures at their instants", async () => {
  const [verdict] = await runScenarioText(SCENARIO);
  if (verdict === undefined) throw new Error("nothing ran");
  const document = documentOf(htmlReport([verdict]));
  const labels = [...document.querySelectorAll(".lane .label")].map(({ textContent }) => textContent);
  expect(labels.slice(0, 1)).toEqual(["shop/main/primary"]);
  expect(labels.slice(-2)).toEqual(["faults", "steps"]);
  for (const shape of ["active", "arrival", "operation", "fault", "step"])
    expect(document.querySelectorAll(`rect.${shape}`).length, shape).toBeGreaterThan(0);
  expect(document.querySelectorAll("rect.fault")).toHaveLength(verdict.faults.length);
  // Half of the run, in every lane and below them.
  const lines = [...document.querySelectorAll("line.failure")];
  expect(lines).toHaveLength(labels.length);
  expect(new Set(lines.map((line) => line.getAttribute("x1")))).toEqual(new Set(["120"]));
  expect(document.querySelector(".marks b")?.getAttribute("style")).toBe("left:50%");
  expect(document.querySelector(".axis span")?.textContent).toBe("2026-01-01 00:00");
  expect(document.querySelector(".failures")?.textContent).toContain("mine.yaml:8:10");
});

test("empty lists, a run without duration, a run that could not start, and no run have their own texts", async () => {
  const empty = await runScenarioText("version: 1\nworld: { projects: {} }\nlength: 1h\n");
  expect(htmlReport(empty)).toContain("The scenario has no expectations.");
  expect(htmlReport(empty)).toContain("no compute, operation or step to show");
  const instant = await runScenarioText(
    "version: 1\nworld: { projects: { shop: {} } }\nsteps: [{ expect: [{ projects: 2 }] }]\n",
  );
  expect(htmlReport(instant)).not.toContain("NaN");
  const reason = "there is no <file>";
  const { scenario, file, values, seed, repeat } = empty[0] as (typeof empty)[number];
  const couldNotRun = { scenario, file, values, seed, repeat, verdict: "could_not_run", reason } as const;
  const both = documentOf(htmlReport([...empty, couldNotRun]));
  expect(both.querySelectorAll("section.run")).toHaveLength(2);
  expect(both.body.textContent).toContain(reason);
  expect(htmlReport([])).toContain("0 of 0 runs passed");
});

test("operations beyond the limit are counted instead of drawn", async () => {
  const [verdict] = await runScenarioText(SCENARIO);
  if (verdict === undefined) throw new Error("nothing ran");
  expect(htmlReport([verdict])).not.toContain("are not shown");
  expect(htmlReport([{ ...verdict, operations_left_out: 7 }])).toContain("7 more operations are not shown");
});
