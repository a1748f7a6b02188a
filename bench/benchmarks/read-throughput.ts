import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import {
  API,
  COMPUTES,
  createProject,
  createProjectFixture,
  listEndpoints,
  recordResponse,
} from "../environment/project-fixture.ts";
import { AUTHORIZATION, type Server, startBare, startCommand } from "../environment/servers.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { throughput } from "./throughput.ts";

const PROJECTS = 20;

export const readThroughput: Benchmark = {
  name: "reads",
  measures: "authenticated lists of 20 objects, compared with bare node:http and the same bytes",
  async run(environment, progress) {
    const own = await startCommand(environment, environment.directory());
    const fixture = await createProjectFixture(own);
    for (let count = 1; count < PROJECTS; count += 1) await createProject(own);
    const figures: Figure[] = [];
    for (const list of [...listsOf(fixture), await notModified(own, fixture)]) {
      progress(list.name);
      figures.push(...(await measureList(environment, own, list, progress)));
    }
    await environment.stop(own.child);
    return figures;
  },
};

type List = { readonly name: string; readonly request: LoadRequest; readonly atLeast: number };

function listsOf(fixture: Awaited<ReturnType<typeof createProjectFixture>>): readonly List[] {
  const get = (path: string): LoadRequest => ({
    method: "GET",
    path: `${API}${path}`,
    headers: AUTHORIZATION,
    expected: 200,
  });
  return [
    { name: `GET endpoints, ${COMPUTES} computes`, request: listEndpoints(fixture), atLeast: 0.5 },
    { name: `GET projects, ${PROJECTS} projects`, request: get(`/projects?limit=${PROJECTS}`), atLeast: 0.4 },
    {
      name: "GET operations, 20 operations",
      request: get(`/projects/${fixture.projectId}/operations?limit=20`),
      atLeast: 0.4,
    },
  ];
}

/** A client that has the list asks whether it has changed. */
async function notModified(
  own: Server,
  fixture: Awaited<ReturnType<typeof createProjectFixture>>,
): Promise<List> {
  const request = listEndpoints(fixture);
  const { etag } = (await recordResponse(own, request)).headers;
  if (etag === undefined) throw new Error("the list has no ETag");
  return {
    name: `GET endpoints, ${COMPUTES} computes, 304`,
    request: { ...request, headers: { ...request.headers, "If-None-Match": etag }, expected: 304 },
    atLeast: 0.7,
  };
}

async function measureList(
  environment: BenchEnvironment,
  own: Server,
  { name, request, atLeast }: List,
  progress: (text: string) => void,
): Promise<Figure[]> {
  const bare = await startBare(environment, await recordResponse(own, request));
  const measure = (total: number) => ({
    own: () => throughput(environment, own, request, total),
    bare: () => throughput(environment, bare, request, total),
  });
  await measureInRounds(1, measure(environment.quick ? 20_000 : 40_000), () => undefined);
  const rounds = await measureInRounds(
    environment.quick ? 3 : 9,
    measure(environment.quick ? 5_000 : 20_000),
    progress,
  );
  await environment.stop(bare.child);
  return [
    comparedFigure(
      name,
      "/s",
      "node:http",
      pairs(rounds, "own", "bare", ({ perSecond }) => perSecond),
      { of: "ratio", atLeast },
    ),
    comparedFigure(
      `  server CPU time per request, ${name}`,
      "us",
      "node:http",
      pairs(rounds, "own", "bare", ({ cpuUsPerRequest }) => cpuUsPerRequest),
    ),
    comparedFigure(
      `  system calls that read or write, per request, ${name}`,
      "",
      "node:http",
      pairs(rounds, "own", "bare", ({ systemCallsPerRequest }) => systemCallsPerRequest),
    ),
  ];
}
