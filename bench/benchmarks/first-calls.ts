import type { Benchmark } from "../benchmark.ts";
import { API, createProject, createProjectFixture, recordResponse } from "../environment/project-fixture.ts";
import { AUTHORIZATION, startBare, startCommand } from "../environment/servers.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { throughput } from "./throughput.ts";

/** A new account with a few projects, as most users have. */
const PROJECTS = 5;

/** The requests with which tools begin, in the order of the tools. `{branch}` is the branch of the newest project. */
const CALLS = [
  { tool: "neonctl me", path: `${API}/users/me` },
  { tool: "neonctl projects list", path: `${API}/users/me/organizations` },
  { tool: "neonctl projects list", path: `${API}/projects?limit=100` },
  { tool: "neonctl branches list", path: `${API}/projects/{project}/branches` },
  {
    tool: "neonctl connection-string",
    path: `${API}/projects/{project}/branches/{branch}/endpoints`,
  },
  {
    tool: "neonctl connection-string",
    path: `${API}/projects/{project}/branches/{branch}/roles/neondb_owner/reveal_password`,
  },
  { tool: "Terraform", path: `${API}/projects/{project}` },
  { tool: "Terraform", path: `${API}/projects/{project}/branches/{branch}` },
  { tool: "Terraform", path: `${API}/projects/{project}/endpoints/{endpoint}` },
  { tool: "Terraform", path: `${API}/projects/{project}/branches/{branch}/databases` },
  { tool: "api-client", path: `${API}/projects/{project}/operations?limit=20` },
  { tool: "console", path: "/_sim/state" },
  { tool: "console", path: "/_sim/clock" },
  { tool: "console", path: "/_sim/events?limit=100" },
] as const;

export const firstCalls: Benchmark = {
  name: "calls",
  measures:
    "server CPU time of the calls with which tools begin, repeated until their code is compiled, compared with node:http and the same bytes",
  async run(environment, progress) {
    const own = await startCommand(environment, environment.directory());
    await createProjectFixture(own);
    let project = await createProject(own);
    for (let count = 2; count < PROJECTS; count += 1) project = await createProject(own);
    const places = new Map([
      ["project", project.projectId],
      ["branch", project.branchId],
      ["endpoint", project.endpointId],
    ]);
    const total = environment.quick ? 1_000 : 5_000;
    /** Until V8 has compiled the code of both servers. */
    const warmUp = environment.quick ? 1_000 : 20_000;
    const figures: Figure[] = [];
    for (const { tool, path: template } of CALLS) {
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name) => places.get(name) ?? "");
      const request = { method: "GET", path, headers: AUTHORIZATION, expected: 200 };
      const bare = await startBare(environment, await recordResponse(own, request));
      const sides = (requests: number) => ({
        own: () => throughput(environment, own, request, requests),
        bare: () => throughput(environment, bare, request, requests),
      });
      progress(`${tool}: GET ${template}`);
      await measureInRounds(1, sides(warmUp), () => undefined);
      const rounds = await measureInRounds(environment.quick ? 1 : 5, sides(total), () => undefined);
      await environment.stop(bare.child);
      figures.push(
        comparedFigure(
          `${tool}: GET ${template}`,
          "us",
          "node:http",
          pairs(rounds, "own", "bare", ({ cpuUsPerRequest }) => cpuUsPerRequest),
        ),
      );
    }
    await environment.stop(own.child);
    return figures;
  },
};
