import type * as z from "zod";
import type { runState } from "../document/run-objects.ts";

/** The state of the scenario run that this server shows: `standin run --ui`. */
export type RunState = z.output<typeof runState>;

export const RUN_ACTIONS = ["step", "continue", "finish", "stop"] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

/** The run of the calls under `/_sim/run`. */
export interface WatchedRun {
  state(): RunState;
  /** Calls the listener after changes. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  act(action: RunAction): void;
}
