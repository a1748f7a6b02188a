import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

// Mistakes in files of instructions: the place, and the beginning of the message. Items of lists count from 1.
test.each([
  ["scenario", "# nothing\n", "1:1: the file: is empty"],
  ["scenario", "name: x\n", "1:1: version: is required and must be 1"],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps: 5\n",
    "3:8: steps: must be an array, not a number",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - at: 5\n    request: {method: GET}\n",
    "4:9: steps.1.at: must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d after the start, or an ISO ",
  ],
  [
    "scenario",
    "version: 1\nclock: {start: yesterday}\n",
    "2:1: clock: unknown key; the known keys are version, name, about, world, traffic, steps, state, length, expect",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nname: [x]\nlength: 5m\n",
    "3:7: name: must be a string, not an array",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - reqest: GET /projects\n",
    "4:5: steps.1.reqest: unknown key; the known keys are name, at, after, request, control, activity, sql, advance",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - advance: soon\n",
    '4:14: steps.1.advance: must be a duration such as 10m, {"to": \u2026} or {"until": "settled"}',
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - {name: deploy, advance: 5m}\n  - {name: check, request: 7}\n",
    "5:28: steps.check.request: must be an object, not a number",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - {name: check, request: {path: /projects, method: FETCH}}\n",
    "4:54: steps.check.request.method: must be one of GET, POST, PATCH, PUT, DELETE",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - {advance: 5m}\n  - {expect: [{cold_starts: x}]}\n",
    "5:29: steps.2.expect.1.cold_starts: must be an exact value, or {min: \u2026, max: \u2026}, both inclusive",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nsteps:\n  - {advance: 5m}\nexpect:\n  - {computes: 1}\n  - {cost: 5}\n",
    "7:5: expect.2: must have exactly one measure; the measures are state, projects, branches, computes, active_com",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nlength: -5\n",
    "3:9: length: must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nlength: 5m\ntraffic:\n  - {name: users, to: shop, pattern: poison, rate: 1/s}\n",
    "5:38: traffic.users.pattern: must be one of constant, poisson, heavy-tailed, on-off, bursts, office-hours, dai",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nlength: 5m\ntraffic:\n  - {name: users, to: shop/main, pattern: poisson, rate: fast}\n",
    "5:58: traffic.users.rate: must be a rate like 5/s, 30/min, 2.5/hour or 10/day, or a number per second",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {}}}\nlength: 5m\nmatrix: {delay: []}\n",
    "4:17: matrix.delay: must not be empty",
  ],
  [
    "scenario",
    "version: 1\nworld: {projects: {shop: {branches: 5}}}\nlength: 5m\n",
    "2:37: world.projects.shop.branches: must be an object, not a number",
  ],
  ["scenario", "version: 1\nworld: {plan: pad}\nlength: 5m\n", "2:15: world.plan: must be one of paid, free"],
  ["scenario", "a: [\n", "2:1: expected ], which ends a list"],
  ["scenario", "- a\n", "1:1: the file: must be an object, not an array"],
  [
    "scenario",
    "x: &a [*a]\n",
    "1:1: the file: an alias contains itself; remove the * that refers to a parent",
  ],
  ["seed", "# nothing\n", "1:1: the file: is empty"],
  ["seed", "projects: 5\n", "1:1: version: is required and must be 1"],
  ["seed", "version: 2\naccounts: []\n", "1:10: version: must be 1"],
  [
    "seed",
    "version: 1\naccounts:\n  - email: x\n    keys: y\n",
    "3:5: accounts.1.id: is required and must be a string",
  ],
  [
    "seed",
    "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n    plan: pad\n",
    "5:11: accounts.1.plan: must be one of paid, free",
  ],
  [
    "seed",
    "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n    projects:\n      - nam: x\n",
    "6:9: accounts.1.projects.1.id: is required and must be a string",
  ],
  [
    "seed",
    "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n    projects:\n      - {id: quiet-wind-12345678, name: 7}\n",
    "6:41: accounts.1.projects.1.name: must be a string, not a number",
  ],
  [
    "seed",
    "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n    projects:\n      - {id: quiet-wind-12345678, name: shop, pg_version: eleven}\n",
    "6:59: accounts.1.projects.shop.pg_version: must be a number, not a string",
  ],
  [
    "seed",
    "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n    projects:\n      - {id: quiet-wind-12345678, name: shop, branches: [7]}\n",
    "6:58: accounts.1.projects.shop.branches.1: must be an object, not a number",
  ],
  ["seed", "- x\n", "1:1: the file: must be an object, not an array"],
] as const)("a %s file %j: %s", async (kind, text, beginning) => {
  const directory = testDirectory();
  const file = join(directory, "mistake.yaml");
  writeFileSync(file, text);
  const args =
    kind === "scenario"
      ? ["run", file]
      : ["serve", "--port", "0", "--pg-port", "none", "--data", join(directory, "data"), "--seed-file", file];
  const { code, stderr } = await runStandin(args);
  const [, message = ""] = stderr.split("mistake.yaml:");
  expect(message.slice(0, beginning.length)).toBe(beginning);
  expect(code).toBe(2);
  expect(stderr).not.toMatch(/^ {4}at |Invalid input|received undefined|call stack/m);
});
