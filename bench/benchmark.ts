import type { BenchEnvironment } from "./environment/environment.ts";
import type { Figure } from "./figure.ts";

/** Reports the current step on stderr. */
export type Progress = (step: string) => void;

export type Benchmark = {
  /** The name that `--only` takes. */
  readonly name: string;
  readonly measures: string;
  run(environment: BenchEnvironment, progress: Progress): Promise<Figure[]>;
};
