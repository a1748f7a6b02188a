import type { Figure } from "./figure.ts";
import type { Stage } from "./stage/stage.ts";

/** Tells on stderr how far it is: nobody should wait for long without knowing for what. */
export type Progress = (step: string) => void;

export type Benchmark = {
  /** What `--only` calls it. */
  readonly name: string;
  readonly measures: string;
  run(stage: Stage, progress: Progress): Promise<Figure[]>;
};
