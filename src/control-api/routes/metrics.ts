import { EventLoopMeter } from "../http/event-loop-delay.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { teamOf } from "../http/team-token.ts";
import { renderMetrics } from "../metrics/render-metrics.ts";
import { figuresOf, figuresOrNone } from "../metrics/world-metrics.ts";

/** Open worlds beyond this number have no series, so that the size of an answer is bounded. */
export const MAX_WORLDS_IN_METRICS = 100;

/** Metrics for monitoring. */
export function metricsRoutes(): readonly ControlApiRoute[] {
  return [getMetrics(new EventLoopMeter())];
}

const getMetrics = (loopMeter: EventLoopMeter) =>
  route("GET /metrics", {}, ({ world, server }, context) => {
    const own = figuresOf(world);
    const others =
      context.req.param("world") === undefined && teamOf(context) === undefined
        ? server.worlds.openWorlds().filter(({ name }) => name !== world.name)
        : [];
    const shown = others.slice(0, MAX_WORLDS_IN_METRICS - 1);
    const text = renderMetrics([own, ...shown.flatMap((other) => figuresOrNone(other))], {
      cell: server.cell,
      worlds: server.worlds.counts,
      omittedWorlds: others.length - shown.length,
      clockSteps: own.clockSteps,
      delay: loopMeter.read(),
      postgres: server.postgresFigures?.(),
      data: server.dataUsage?.(),
    });
    return context.text(text, 200, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" });
  });
