import { accountReport } from "../document/account-report-objects.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

/**
 * The what-if report that `standin mirror --history` or `standin shadow --world` stored when it wrote a world's past.
 */
export function accountReportRoutes(): readonly ControlApiRoute[] {
  return [getAccountReport];
}

const getAccountReport = route("GET /account-report", {}, ({ world, server }) => {
  // One of another release may have another form.
  const parsed = accountReport.safeParse(server.worlds.accountReport(world.name));
  return { report: parsed.success ? parsed.data : null };
});
