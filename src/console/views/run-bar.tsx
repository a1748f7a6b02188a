import { controlRun, isOver, run } from "../state/run.ts";

const TEXTS = {
  paused: "Paused",
  playing: "Playing",
  passed: "Passed",
  failed: "Failed",
  could_not_run: "Could not run",
} as const;

/** Position of the run, and buttons to continue it. */
export function RunBar() {
  const state = run.value;
  if (state === undefined) return null;
  const { status, reason, title } = state;
  const over = isOver(state);
  const isPaused = status === "paused";
  const hasFailed = isPaused && reason.endsWith(" failed");
  return (
    <section class={`run-bar ${hasFailed ? "failed" : status}`} aria-label="Scenario run">
      <p role="status">
        <b>{TEXTS[status]}</b> {title}
        {reason !== "" && <span>, {reason}</span>}
      </p>
      <div class="buttons">
        {!over && (
          <>
            <button type="button" onClick={() => controlRun("step")} disabled={!isPaused}>
              Step
            </button>
            <button type="button" class="primary" onClick={() => controlRun("continue")} disabled={!isPaused}>
              Continue
            </button>
            <button type="button" onClick={() => controlRun("finish")}>
              To the end
            </button>
          </>
        )}
        <button type="button" class="danger" onClick={() => controlRun("stop")}>
          {over ? "Close" : "Stop"}
        </button>
      </div>
    </section>
  );
}
