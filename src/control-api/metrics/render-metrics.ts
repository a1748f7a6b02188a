import type { Metric, Samples } from "./metric.ts";
import { SERVICE_METRICS, type ServiceFigures } from "./service-metrics.ts";
import { WORLD_METRICS, type WorldFigures } from "./world-metrics.ts";

/**
 * Metrics in the Prometheus text format. Those of a world have the label `world`; those of the process do not. With
 * a cell, all of them have its label.
 */
export function renderMetrics(worlds: readonly WorldFigures[], service: ServiceFigures): string {
  const { cell } = service;
  const cellLabel = cell === undefined ? "" : `,cell="${cell}"`;
  const ofWorlds = WORLD_METRICS.flatMap((metric) => [
    ...head(metric),
    ...worlds.flatMap((figures) =>
      byLabels(metric.samples(figures)).map(
        ([labels, value]) => `standin_${metric.name}{world="${figures.name}"${cellLabel}${labels}} ${value}`,
      ),
    ),
  ]);
  const ofService = SERVICE_METRICS.flatMap((metric) => {
    const samples = metric.samples(service);
    if (samples === undefined) return [];
    const series = byLabels(samples).map(([labels, value]) => {
      const all = `${cellLabel}${labels}`.slice(1);
      return `standin_${metric.name}${all === "" ? "" : `{${all}}`} ${value}`;
    });
    return [...head(metric), ...series];
  });
  return `${[...ofWorlds, ...ofService].join("\n")}\n`;
}

function head({ name, type, help }: Pick<Metric<never>, "name" | "type" | "help">): string[] {
  return [`# HELP standin_${name} ${help}`, `# TYPE standin_${name} ${type}`];
}

function byLabels(samples: number | Samples): [labels: string, value: number][] {
  return Object.entries(typeof samples === "number" ? { "": samples } : samples);
}
