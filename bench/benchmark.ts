import type { BenchEnvironment } from "./environment/environment.ts";
import type { Figure } from "./figure.ts";

/** Tells on stderr how far it is: nobody should wait for long without knowing for what. */
export type Progress = (step: string) => void;

export type Benchmark = {
  /** What `--only` calls it. */
  readonly name: string;
  readonly measures: string;
  run(environment: BenchEnvironment, progress: Progress): Promise<Figure[]>;
};
