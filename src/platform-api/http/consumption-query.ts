import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { BRANCH_METRICS, METRICS, OPTIONAL_METRICS, PROJECT_METRICS } from "../render/consumption-metrics.ts";
import { cursorParameter, limitParameter } from "./paging.ts";
import { flag } from "./request-fields.ts";

const MAX_PAGE = 100;
const DEFAULT_PAGE = 10;
const MAX_BRANCHES_PAGE = 1_000;
const DEFAULT_BRANCHES_PAGE = 100;
const MAX_IDS = 100;

export const LIST_PARAMETERS = ["project_ids", "branch_ids", "metrics"];

/** Values separated by commas. Empty values are ignored. */
function commaSeparated<T extends z.ZodType<string, string>>(element: T) {
  return z
    .string()
    .transform((text) => text.split(",").filter((item) => item !== ""))
    .pipe(z.array(element));
}

const ids = commaSeparated(id).refine((list) => list.length <= MAX_IDS, `must be at most ${MAX_IDS} ids`);
const requiredIds = ids.refine((list) => list.length > 0, `must be 1 to ${MAX_IDS} ids`);

function metricList<const M extends readonly [string, ...string[]]>(names: M) {
  return commaSeparated(z.enum(names, `must be one of ${names.join(", ")}`));
}

function requiredMetricList<const M extends readonly [string, ...string[]]>(names: M) {
  return metricList(names).refine((list) => list.length > 0, `must be at least one of ${names.join(", ")}`);
}

const window = { from: instant, to: instant, granularity: z.enum(["hourly", "daily", "monthly"]) };

export const projectsQuery = z.object({
  ...window,
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorParameter("consumption", z.tuple([z.int()])),
  project_ids: ids.optional(),
  org_id: id.optional(),
  metrics: metricList([...METRICS, ...OPTIONAL_METRICS]).optional(),
  include_v1_metrics: flag.optional(),
});

export const accountQuery = projectsQuery.pick({
  from: true,
  to: true,
  granularity: true,
  org_id: true,
  metrics: true,
  include_v1_metrics: true,
});

export const projectsV2Query = z.object({
  ...window,
  limit: limitParameter(MAX_PAGE, DEFAULT_PAGE),
  cursor: cursorParameter("consumption-v2", z.tuple([z.int()])),
  project_ids: ids.optional(),
  org_id: id,
  metrics: requiredMetricList(PROJECT_METRICS),
});

export const branchesV2Query = z.object({
  ...window,
  limit: limitParameter(MAX_BRANCHES_PAGE, DEFAULT_BRANCHES_PAGE),
  cursor: cursorParameter("consumption-branches", z.tuple([z.string(), z.string()])),
  project_ids: requiredIds,
  branch_ids: ids.optional(),
  org_id: id,
  metrics: requiredMetricList(BRANCH_METRICS),
});
