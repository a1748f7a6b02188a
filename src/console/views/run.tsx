import type { RunState } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { formatDuration, formatInstant, formatNumber } from "../state/format.ts";
import { run } from "../state/run.ts";

const MARKS = { waiting: "○", current: "▸", passed: "✓", failed: "✗" } as const;
const RESULTS = { passed: "✓ holds", failed: "✗ failed", not_checked: "not checked" } as const;

/** The steps of a run, its failures, and its expectations with their values. */
export function Run() {
  const state = run.value;
  if (state === undefined) return <p class="empty">Reading the run …</p>;
  return (
    <div class="run">
      <div>
        <h3>Steps</h3>
        <ol class="steps">
          {state.steps.map((step) => (
            <Step key={step.place} step={step} results={state.results} />
          ))}
        </ol>
        {state.steps.length === 0 && <p class="empty">This scenario has no steps, only traffic.</p>}
      </div>
      <div>
        <Failures failures={state.failures} />
        <h3>Expectations</h3>
        {state.expectations.length === 0 ? (
          <p class="empty">This scenario expects nothing.</p>
        ) : (
          <Table
            rows={state.expectations}
            keyOf={({ what }) => what}
            class="expectations"
            columns={[
              {
                title: "Result",
                cell: ({ result }) => <span class={`result ${result}`}>{RESULTS[result]}</span>,
              },
              {
                title: "Expected",
                cell: ({ expected, what }) => (
                  <>
                    {expected} <small>{what}</small>
                  </>
                ),
              },
              { title: "Value", kind: "number", cell: ({ value, measure }) => quantity(value, measure) },
              { title: "Margin", kind: "number", cell: ({ margin, measure }) => quantity(margin, measure) },
            ]}
          />
        )}
      </div>
    </div>
  );
}

type StepProps = { readonly step: RunState["steps"][number]; readonly results: RunState["results"] };

/** A step, and of a repeated one what it does now. */
function Step({ step, results }: StepProps) {
  const { place, name, state, at, detail } = step;
  const inner =
    state === "current" ? results.filter((one) => one.place.startsWith(`${place}.`)).slice(-3) : [];
  return (
    <li class={state} aria-current={state === "current" ? "step" : undefined}>
      <span class="mark" aria-hidden="true">
        {MARKS[state]}
      </span>
      <span class="what">
        <span class="hidden">{state}: </span>
        {place}. {name}
        {detail && detail !== at && <small> {detail}</small>}
        {inner.map((one) => (
          <small key={one.place} class={one.ok ? "" : "failed"}>
            {one.place} {one.name} {one.detail}
          </small>
        ))}
      </span>
      {at && <time>{formatInstant(at)}</time>}
    </li>
  );
}

function Failures({ failures }: Pick<RunState, "failures">) {
  if (failures.length === 0) return null;
  return (
    <>
      <h3>Failures</h3>
      <ul class="failures">
        {failures.map(({ what, at, expected, actual, line, broken_by, last_change, caused_by }, index) => (
          <li key={`${index} ${what}`}>
            <b>{what}</b> <time>{formatInstant(at)}</time>
            <p>
              Expected {expected}, but it is {actual}.{line !== undefined && <small> Line {line}.</small>}
            </p>
            {(broken_by ?? last_change) !== undefined && (
              <p>
                {broken_by === undefined ? "Last change" : "Broken by"}: {broken_by ?? last_change}
              </p>
            )}
            {caused_by.map((cause) => (
              <p key={cause}>
                <small>because of {cause}</small>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

const DURATION_MEASURES = /^(active_time|compute_time|wait_)/;

function quantity(value: number | string | undefined, measure: string): string {
  if (value === undefined) return "–";
  if (typeof value === "string") return value;
  return DURATION_MEASURES.test(measure) ? formatDuration(value) : formatNumber(value);
}
