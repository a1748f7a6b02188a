import { signal } from "@preact/signals";
import { showsRun } from "../client/mode.ts";

export type TabName =
  | "run"
  | "requests"
  | "events"
  | "faults"
  | "whatif"
  | "account"
  | "agreement"
  | "snapshots"
  | "worlds"
  | "keys";

/** The tab below the timeline that is shown. */
export const currentTab = signal<TabName>(showsRun ? "run" : "requests");
