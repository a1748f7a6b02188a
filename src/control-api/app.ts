import { Hono } from "hono";
import { respondWithError } from "../http/request.ts";
import type { ControlOptions } from "./http/handler.ts";
import type { ControlApiRoute } from "./http/route.ts";
import { accountReportRoutes } from "./routes/account-report.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { activityRoutes } from "./routes/activity.ts";
import { branchDataRoutes } from "./routes/branch-data.ts";
import { clockRoutes } from "./routes/clock.ts";
import { documentRoutes } from "./routes/documents.ts";
import { endpointRoutes } from "./routes/endpoints.ts";
import { eventRoutes } from "./routes/events.ts";
import { faultRoutes } from "./routes/faults.ts";
import { healthRoutes } from "./routes/health.ts";
import { historyRoutes } from "./routes/history.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { moveRoutes } from "./routes/moves.ts";
import { organizationRoutes } from "./routes/organizations.ts";
import { requestRoutes } from "./routes/requests.ts";
import { runRoutes } from "./routes/run.ts";
import { scenarioRoutes } from "./routes/scenario.ts";
import { shadowRoutes } from "./routes/shadow.ts";
import { snapshotRoutes } from "./routes/snapshots.ts";
import { sqlRoutes } from "./routes/sql.ts";
import { timelineRoutes } from "./routes/timeline.ts";
import { waitRoutes } from "./routes/wait.ts";
import { whatIfRoutes } from "./routes/whatif.ts";
import { worldRoutes } from "./routes/worlds.ts";

/**
 * The control API under `/_sim`, separate from the imitated API so that its additions are not mistaken for
 * the platform's.
 */
export function createControl(options: ControlOptions): Hono {
  const app = new Hono();
  const routes: readonly ControlApiRoute[] = [
    ...healthRoutes(),
    ...clockRoutes(),
    ...activityRoutes(),
    ...endpointRoutes(),
    ...accountRoutes(),
    ...organizationRoutes(),
    ...historyRoutes(),
    ...snapshotRoutes(),
    ...worldRoutes(),
    ...faultRoutes(options),
    ...requestRoutes(options),
    ...timelineRoutes(),
    ...branchDataRoutes(),
    ...sqlRoutes(),
    ...scenarioRoutes(),
    ...shadowRoutes(),
    ...accountReportRoutes(),
    ...runRoutes(),
    ...whatIfRoutes(),
    ...eventRoutes(),
    ...waitRoutes(),
    ...metricsRoutes(),
    ...moveRoutes(),
    ...documentRoutes(() => app.routes),
  ];
  for (const { method, path, handlerFor } of routes) app.on(method, path, handlerFor(options));
  app.all("*", (context) => {
    const paths = [
      ...new Set(
        app.routes.filter(({ path }) => !path.includes("*")).map(({ method, path }) => `${method} ${path}`),
      ),
    ];
    return respondWithError(context, {
      status: 404,
      code: "UNKNOWN_PATH",
      message: `there is no ${context.req.method} ${context.req.path}; available under /_sim: ${paths.join(", ")}`,
    });
  });
  return app;
}
