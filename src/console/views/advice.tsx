import type { Signal } from "@preact/signals";
import type { Advice, AdvisedPlan } from "../client/types.ts";
import { applyDelay } from "../state/actions.ts";
import { formatDollars, formatDuration, formatNumber } from "../state/format.ts";
import { canChange } from "../state/world.ts";

const PLANS: readonly AdvisedPlan[] = ["launch", "scale"];

type AdviceProps = {
  readonly advice: Advice;
  readonly plan: Signal<AdvisedPlan>;
  readonly onPlan: () => void;
};

/** Recommended changes of this world, next steps, sensitivity of the answer, and missing data. */
export function AdviceView({ advice, plan, onPlan }: AdviceProps) {
  const { text, decision } = advice;
  return (
    <section class="advice" aria-labelledby="advice">
      <header>
        <h3 id="advice">Advice</h3>
        <label>
          Plan
          <select
            value={plan.value}
            onChange={(event) => {
              plan.value = event.currentTarget.value as AdvisedPlan;
              onPlan();
            }}
          >
            {PLANS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </header>
      <p class="decision">{text.decision}</p>
      {text.warning !== null && <p class="caution">{text.warning}</p>}
      <Bill advice={advice} />
      {decision?.kind === "delay" && typeof decision.delay_s === "number" && (
        <div class="buttons">
          <ApplyButton seconds={decision.delay_s} />
        </div>
      )}
      <div class="reasons">
        <Sentences
          title={decision === null ? "The most worthwhile changes" : "The next best"}
          items={text.next}
        />
        <Sentences title="The free plan" items={text.free_plan === null ? [] : [text.free_plan]} />
        <Sentences title="What would change the choice of a delay" items={text.would_change} />
        <Sentences title="Not known" items={text.not_known} />
      </div>
    </section>
  );
}

function ApplyButton({ seconds }: { readonly seconds: number }) {
  return (
    <button type="button" class="primary" onClick={() => applyDelay(seconds)} disabled={!canChange.value}>
      Apply {formatDuration(seconds * 1_000)} …
    </button>
  );
}

/** The bill and the cold starts after the decision, and now. */
function Bill({ advice: { bill, current, decision } }: { readonly advice: Advice }) {
  const now = bill.dollars_per_month;
  const margin = decision?.margin_95 ?? 0;
  return (
    <ul class="cards">
      <Card
        title="Bill a month"
        now={formatDollars(now)}
        after={decision === null ? undefined : formatDollars(now - decision.saves_dollars_per_month)}
        margin={margin === 0 ? undefined : `± ${formatDollars(margin)}`}
      />
      <Card
        title="Cold starts a day"
        now={startsText(current)}
        after={
          decision === null
            ? undefined
            : formatNumber(current.cold_starts_per_day + decision.cold_starts_per_day)
        }
      />
      {current.wait_p99_ms !== null && <Card title="p99 wait" now={formatDuration(current.wait_p99_ms)} />}
    </ul>
  );
}

function startsText({
  cold_starts_per_day: starts,
  cold_starts_per_day_at_most_95: atMost,
}: Advice["current"]): string {
  return atMost === undefined ? formatNumber(starts) : `0 (at most ${formatNumber(atMost)})`;
}

type CardProps = {
  readonly title: string;
  readonly now: string;
  /** Absent if no delay is to be changed, or if the value is unknown. */
  readonly after?: string | undefined;
  readonly margin?: string | undefined;
};

function Card({ title, now, after, margin }: CardProps) {
  const notes = after === undefined ? ["now"] : [...(margin === undefined ? [] : [margin]), `now ${now}`];
  return (
    <li>
      <span>{title}</span>
      <b>{after ?? now}</b>
      <small>{notes.join(" · ")}</small>
    </li>
  );
}

/** Nothing if there are none. */
function Sentences({ title, items }: { readonly title: string; readonly items: readonly string[] }) {
  if (items.length === 0) return null;
  return (
    <div>
      <h4>{title}</h4>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  );
}
