import type { Benchmark } from "../benchmark.ts";
import { LARGE_HEAP } from "../environment/simulated-world.ts";
import { type Figure, median, plainFigure } from "../figure.ts";
import type { AnswerMeasurement, ControlAnswersOptions } from "../processes/control-answers.ts";

const PROJECTS = 25_000;
const LONGEST_BLOCK_MS = 20;
/**
 * The answers of the control API, except for streams, and for what this world does not have: a run, a move, a shadow,
 * the report of an account, and a snapshot. A scenario is recorded in another thread. `{project}` is the newest project.
 * Explanations search history from its end, so those of the oldest objects take longest.
 */
const CONTROL_PATHS = [
  "/accounts",
  "/api_keys",
  "/branches/{branch}/data",
  "/clock",
  "/coverage",
  "/data",
  "/endpoints",
  "/endpoints/{endpoint}/stats",
  "/events?limit=10000",
  "/explain/endpoints/{oldestEndpoint}",
  "/explain/operations/{oldestOperation}",
  "/faults",
  "/health",
  "/invariants",
  "/metrics",
  "/openapi.json",
  "/requests",
  "/snapshots",
  "/state",
  "/timeline",
  "/worlds",
  "/worlds/default",
] as const;

/** Lists of the platform API with their largest pages, and searches that find nothing. */
const PLATFORM_PATHS = [
  "/api_keys",
  "/consumption_history/account?from={monthStart}&to={now}&granularity=monthly",
  "/consumption_history/account?from={weekAgo}&to={now}&granularity=hourly",
  "/consumption_history/projects?from={monthStart}&to={now}&granularity=monthly&limit=100",
  "/consumption_history/projects?from={weekAgo}&to={now}&granularity=hourly&limit=100",
  "/consumption_history/projects?from={weekAgo}&to={now}&granularity=hourly&project_ids={project}",
  "/consumption_history/v2/projects?from={weekAgo}&to={now}&granularity=hourly&limit=100&org_id={organization}&metrics={metrics}",
  "/consumption_history/v2/branches?from={weekAgo}&to={now}&granularity=hourly&org_id={organization}&metrics={metrics}&project_ids={projects}",
  "/projects?limit=400",
  "/projects?limit=400&search=none",
  "/projects?recoverable=true&limit=400",
  "/projects/shared",
  "/projects/{project}/branches",
  "/projects/{project}/endpoints",
  "/projects/{project}/operations?limit=1000",
  "/users/me",
] as const;

const PATHS = [
  ...CONTROL_PATHS.map((path) => `/_sim${path}`),
  ...PLATFORM_PATHS.map((path) => `/api/v2${path}`),
];
const API_KEY = "bench".padEnd(64, "0");

export const controlAnswers: Benchmark = {
  name: "control",
  measures:
    "longest block of the thread by each answer of the control API, and by lists, with 25,000 projects",
  async run(environment, progress) {
    const options: ControlAnswersOptions = {
      projects: environment.quick ? PROJECTS / 10 : PROJECTS,
      apiKey: API_KEY,
    };
    progress(`creating ${options.projects} projects`);
    const child = await environment.start([
      LARGE_HEAP,
      environment.script("control-answers"),
      JSON.stringify(options),
    ]);
    const figures: Figure[] = [];
    for (const path of PATHS) {
      const measured: AnswerMeasurement[] = [];
      // The first one includes the compilation of its code.
      for (let round = 0; round < 4; round += 1)
        measured.push(await child.request<AnswerMeasurement>("answer", path));
      const later = measured.slice(1);
      figures.push(
        plainFigure(
          `GET ${path}: longest block, processor time`,
          "ms",
          median(later.map(({ blockMs }) => blockMs)),
          {
            of: "value",
            atMost: LONGEST_BLOCK_MS,
          },
        ),
        plainFigure("  whole answer, processor time", "ms", median(later.map(({ cpuMs }) => cpuMs))),
        plainFigure("  first call: longest block", "ms", measured[0]?.blockMs ?? Number.NaN),
      );
    }
    await environment.stop(child);
    return figures;
  },
};
