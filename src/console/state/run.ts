import { signal } from "@preact/signals";
import { followStream } from "../client/event-stream.ts";
import { showsRun } from "../client/mode.ts";
import { control } from "../client/request.ts";
import type { RunState } from "../client/types.ts";
import { attempt } from "./notices.ts";
import { clock } from "./world.ts";

/** The scenario run that this server shows. */
export const run = signal<RunState | undefined>(undefined);

export function isOver({ status }: RunState): boolean {
  return status !== "paused" && status !== "playing";
}

export function controlRun(action: "step" | "continue" | "finish" | "stop"): Promise<unknown> {
  return attempt(() => control("POST", "/run", { action }));
}

/** Follows the run, if there is one. */
export function beginRun(): void {
  if (!showsRun) return;
  followStream<RunState>("/run/stream", ({ version }) => version, {
    onOpen: () => undefined,
    onEntries: (states) => {
      run.value = states.at(-1);
      const { now = null } = run.value ?? {};
      // The run moves the clock, which is not an event.
      if (now !== null) showClock(now);
    },
    // The stream of events says that the server is gone.
    onLost: () => undefined,
  });
}

function showClock(now: string): void {
  const reading = clock.peek();
  if (reading !== undefined && reading.now !== now)
    clock.value = { ...reading, now, readAt: performance.now() };
}
