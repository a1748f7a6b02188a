/** A value by its labels, which begin with a comma. */
export type Samples = Readonly<Record<string, number>>;

/** A metric, with its samples from the figures of a world or of the process. */
export type Metric<Figures> = {
  /** Name without the prefix `standin_`. */
  readonly name: string;
  readonly type: "gauge" | "counter" | "summary";
  readonly help: string;
  readonly samples: (figures: Figures) => number | Samples;
};

/** A metric that is not shown if it has no samples. */
export type OptionalMetric<Figures> = Omit<Metric<Figures>, "samples"> & {
  readonly samples: (figures: Figures) => number | Samples | undefined;
};
