import { readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseScenario } from "../../src/scenario/parse-scenario.ts";
import { createDouble, createProject } from "../support/double/double.ts";
import { createFileDouble } from "../support/double/file-double.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { runScenarioFile, runScenarioText } from "../support/scenario/scenario-run.ts";

/** Runs the scenario file that a failing property has written. */
async function scenarioOf(property: fc.IAsyncProperty<unknown>) {
  const error: Error = await expectHolds(property, 20).then(
    () => expect.unreachable("the property should fail"),
    (reason) => reason,
  );
  const [, file = ""] =
    /To run its requests as a scenario:\nstandin run (\S+\.yaml)$/.exec(error.message) ?? [];
  try {
    const text = readFileSync(file, "utf8");
    const [verdict] = await runScenarioFile(file);
    return { text, verdict, steps: parseScenario(text, file).variants[0]?.scenario.steps ?? [] };
  } finally {
    rmSync(dirname(file), { recursive: true });
  }
}

test("a failing property writes a scenario that repeats the steps up to the failure", async () => {
  let branches: readonly { readonly id: string }[] = [];
  const { verdict, steps, text } = await scenarioOf(
    fc.asyncProperty(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 }), async (names) => {
      const double = await createDouble();
      const { projectId, endpointId } = await createProject(double);
      for (const name of names) {
        await double.sim("POST", "/activity", { endpoint_id: endpointId, duration_ms: 1_000 });
        await double.api("POST", `/projects/${projectId}/branches`, { branch: { name } });
        await double.advance("1h");
      }
      const { body } = await double.api("GET", `/projects/${projectId}/branches`);
      await double.close();
      branches = body.branches;
      expect(branches.length, "which is false: there may be more").toBe(1);
    }),
  );
  // Every step passes with the same ids: the answers are those that the property saw.
  expect(verdict).toMatchObject({ verdict: "passed", ended_at: "2026-01-01T01:00:10.000Z" });
  expect(verdict?.steps.map(({ name }) => name)).toEqual([
    "request",
    "wait",
    "control",
    "request",
    "wait",
    "request",
  ]);
  expect(steps.at(-1)?.request?.path).toMatch(/^\/projects\/[a-z0-9-]+\/branches$/);
  // An expectation added at the end sees the state that the property saw.
  const [, second] = branches;
  const runExpecting = async (id: string) => {
    const [played] = await runScenarioText(
      text.replace(/status: 200\n$/, `status: 200\n      answer: { branches.1.id: ${id} }\n`),
    );
    return [played?.verdict, played?.failures.length];
  };
  expect(await runExpecting(second?.id ?? "")).toEqual(["passed", 0]);
  expect(await runExpecting("br-nobody")).toEqual(["failed", 1]);
});

test("where the double was restarted, the scenario restarts it too", async () => {
  const { verdict, steps } = await scenarioOf(
    fc.asyncProperty(fc.constant(1), async () => {
      const stored = await createFileDouble({ operations: "immediate" });
      try {
        await stored.double().api("POST", "/projects", { project: { name: "one" } });
        await stored.reopen();
        const { body } = await stored.double().api("GET", "/projects");
        expect(body.projects).toEqual([]);
      } finally {
        await stored.end();
      }
    }),
  );
  expect(steps.map((step) => Object.keys(step)[0])).toEqual(["request", "restart", "request"]);
  expect(verdict?.verdict).toBe("passed");
});

test("a property that sends no request to a double writes no scenario", async () => {
  const property = fc.asyncProperty(fc.nat(), async (n) => expect(n).toBeLessThan(0));
  await expect(expectHolds(property, 5)).rejects.toThrow(/^(?![\s\S]*standin run)/);
});
