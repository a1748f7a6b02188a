import { useSignal } from "@preact/signals";
import { get, WORLD_NAME } from "../client/request.ts";
import type { RecordedScenario } from "../client/types.ts";
import { CopyButton } from "../parts/copy-text.tsx";
import { downloadText } from "../parts/download.ts";
import { formatDuration, formatInstant } from "../state/format.ts";
import { attempt } from "../state/notices.ts";
import { clearPeriod, type Period, period } from "../state/period.ts";
import { ask } from "../state/question.ts";

/** The selected period, and what can be done with it. */
export function PeriodBar() {
  const isBusy = useSignal(false);
  const selected = period.value;
  if (selected === undefined) return null;
  const make = async () => {
    isBusy.value = true;
    const made = await attempt(() => readScenario(selected));
    isBusy.value = false;
    if (made !== undefined) offer(made, selected);
  };
  const length = selected.to - selected.from;
  return (
    <div class="period-bar" role="status">
      <span>
        Selected: <time>{formatInstant(selected.from)}</time>
        {length > 0 && (
          <>
            {" to "}
            <time>{formatInstant(selected.to)}</time>, {formatDuration(length)}
          </>
        )}
      </span>
      <button type="button" class="primary" onClick={make} disabled={isBusy.value}>
        {isBusy.value ? "Making the scenario …" : "Make scenario"}
      </button>
      <button type="button" class="quiet" onClick={clearPeriod}>
        Clear selection
      </button>
    </div>
  );
}

/** Everything from the first instant of the period on; a point of history is inclusive. */
async function readScenario({ from, to }: Period): Promise<RecordedScenario> {
  const { history_begins_at } = await get<{ history_begins_at: string }>("/timeline?points=1");
  const begin = from - 1 < Date.parse(history_begins_at) ? "" : `from=${new Date(from - 1).toISOString()}&`;
  return get<RecordedScenario>(`/scenario?${begin}to=${new Date(to).toISOString()}`);
}

function offer({ scenario, steps, omitted }: RecordedScenario, { from }: Period): void {
  const name = `${WORLD_NAME}-${formatInstant(from).replaceAll(/\D/g, "-")}.yaml`;
  ask({
    title: "Scenario of the selection",
    text: (
      <>
        <p>
          {steps} {steps === 1 ? "step repeats" : "steps repeat"} the requests and activities of this period
          in a copy of the world as it was before, and every answer is expected again. Reads are left out.
        </p>
        {omitted.length > 0 && (
          <>
            <p>Not repeated:</p>
            <ul>
              {omitted.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </>
        )}
        <pre class="preview">{withoutWorld(scenario)}</pre>
        <p>
          Run it with <code>standin run {name}</code>
        </p>
        <CopyButton text={scenario} label="scenario" caption="Copy instead" />
      </>
    ),
    action: "Download",
    onSubmit: async () => downloadText(name, scenario),
  });
}

/** The steps; the initial world at the end of the file is long and compressed. */
function withoutWorld(scenario: string): string {
  const end = scenario.search(/^world:/m);
  return end < 0 ? scenario : `${scenario.slice(0, end)}world: …`;
}
