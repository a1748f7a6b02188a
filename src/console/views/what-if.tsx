import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../../kernel/message-of.ts";
import { isReadOnly } from "../client/mode.ts";
import { control } from "../client/request.ts";
import type { Advice, AdvisedPlan, PolicyFigures, WhatIfAnswer } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { applyDelay } from "../state/actions.ts";
import { askForReplay } from "../state/fork-and-replay.ts";
import { formatDollars, formatDuration, formatInstant, formatNumber } from "../state/format.ts";
import { attempt } from "../state/notices.ts";
import { canChange } from "../state/world.ts";
import { AdviceView } from "./advice.tsx";
import { ComputeTable } from "./what-if-computes.tsx";
import { change, figure, uncertainty } from "./what-if-figures.ts";

/** Autosuspend delays to compare, in seconds. */
const DELAYS = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 86_400];
/** The policy with perfect foresight: no policy that only suspends is cheaper. */
const BOUND = "clairvoyant";
const DAYS_PER_MONTH = 30.4375;
/** Computes in the table of computes. */
const LISTED_COMPUTES = 20;
/** With less traffic, the figures are shown but are no basis for a decision. */
const ENOUGH_DAYS = 7;
const ENOUGH_STARTS = 100;

/** Recommended changes and the cost of other autosuspend delays, from this world's own history. */
export function WhatIf() {
  const advice = useSignal<Advice | undefined>(undefined);
  const plan = useSignal<AdvisedPlan>("scale");
  const answer = useSignal<WhatIfAnswer | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const chosen = useSignal(2);
  const ask = async () => {
    failure.value = undefined;
    try {
      advice.value = await control<Advice>("POST", "/whatif/advice", { plan: plan.value });
      answer.value = await control<WhatIfAnswer>("POST", "/whatif", {
        price_plan: plan.value,
        policy: [...DELAYS.map((delay) => `fixed:${delay}`), BOUND],
        by_compute: LISTED_COMPUTES,
      });
    } catch (error) {
      advice.value = undefined;
      answer.value = undefined;
      failure.value = messageOf(error);
    }
  };
  useEffect(() => {
    void ask();
  }, []);
  if (failure.value !== undefined)
    return (
      <div class="empty">
        <p>{failure.value}</p>
        <button type="button" onClick={ask}>
          Ask again
        </button>
      </div>
    );
  if (advice.value === undefined) return <p class="empty">Replaying this world's traffic …</p>;
  return (
    <div class="what-if">
      <AdviceView advice={advice.value} plan={plan} onPlan={ask} />
      {answer.value === undefined ? (
        <p class="empty">Comparing delays …</p>
      ) : (
        <DelayComparison answer={answer.value} chosen={chosen} onAsk={ask} />
      )}
    </div>
  );
}

type DelayComparisonProps = {
  readonly answer: WhatIfAnswer;
  readonly chosen: Signal<number>;
  readonly onAsk: () => void;
};

function DelayComparison({ answer, chosen, onAsk }: DelayComparisonProps) {
  const { traffic, policies } = answer;
  const [present] = policies;
  const delay = DELAYS[chosen.value] ?? 300;
  const selected = policies.find(({ policy }) => policy === `fixed:${delay}`) ?? present;
  if (present === undefined || selected === undefined) return <p class="empty">There is no traffic yet.</p>;
  const perMonth = DAYS_PER_MONTH / Math.max(traffic.days, Number.EPSILON);
  return (
    <>
      <h3>Compare delays</h3>
      <DelaySlider delay={delay} chosen={chosen} />
      <Comparison present={present} selected={selected} perMonth={perMonth} />
      <div class="buttons">
        <button type="button" onClick={() => applyDelay(delay)} disabled={!canChange.value}>
          Apply {formatDuration(delay * 1_000)} to this world …
        </button>
        <button type="button" onClick={() => attempt(() => askForReplay(delay))} disabled={isReadOnly}>
          Fork and replay …
        </button>
      </div>
      <DelayTable policies={policies} selected={selected.policy} perMonth={perMonth} />
      <ComputeTable policy={selected} computes={traffic.computes} perMonth={perMonth} />
      <Limits answer={answer} present={present} selected={selected} onAsk={onAsk} />
    </>
  );
}

function DelaySlider({ delay, chosen }: { readonly delay: number; readonly chosen: Signal<number> }) {
  return (
    <label class="slider">
      <span>
        Suspend after <b>{formatDuration(delay * 1_000)}</b> without activity
      </span>
      <input
        type="range"
        min={0}
        max={DELAYS.length - 1}
        step={1}
        value={chosen.value}
        aria-valuetext={formatDuration(delay * 1_000)}
        onInput={(event) => {
          chosen.value = Number(event.currentTarget.value);
        }}
      />
    </label>
  );
}

type ComparisonProps = {
  readonly present: PolicyFigures;
  readonly selected: PolicyFigures;
  readonly perMonth: number;
};

function Comparison({ present, selected, perMonth }: ComparisonProps) {
  const was = (name: string) => present.figures[name]?.value ?? 0;
  const is = (name: string) => selected.figures[name]?.value ?? 0;
  const cards = [
    ["Cost a month", "cost", (value: number) => formatDollars(value * perMonth)],
    ["Cold starts a day", "cold_starts_per_day", formatNumber],
    ["Mean wait", "wait_mean_ms", formatDuration],
    ["Compute time", "cu_hours", (value: number) => `${formatNumber(value)} CU-h`],
  ] as const;
  return (
    <ul class="cards">
      {cards.map(([title, name, format]) => (
        <li key={name}>
          <span>{title}</span>
          <b>{format(is(name))}</b>
          <small>
            {change(is(name), was(name))}
            {uncertainty(selected.figures, name, format)}
          </small>
        </li>
      ))}
    </ul>
  );
}

function DelayTable({
  policies,
  selected,
  perMonth,
}: {
  readonly policies: readonly PolicyFigures[];
  readonly selected: string;
  readonly perMonth: number;
}) {
  const byDelay = [...new Map(policies.map((one) => [one.policy, one])).values()].sort(
    (a, b) => delayOf(a) - delayOf(b),
  );
  const highest = Math.max(...byDelay.map((one) => figure(one, "cost")));
  return (
    <Table
      rows={byDelay}
      keyOf={({ policy }) => policy}
      isSelected={({ policy }) => policy === selected}
      columns={[
        {
          title: "Delay",
          cell: (one) => (
            <>
              {one.policy === BOUND ? "perfect foresight" : formatDuration(delayOf(one) * 1_000)}
              {one === policies[0] && <small> present</small>}
              {one.policy === BOUND && <small> lower bound</small>}
            </>
          ),
        },
        {
          title: "Cost a month",
          kind: "number",
          cell: (one) => formatDollars(figure(one, "cost") * perMonth),
        },
        {
          title: "Cost as a bar",
          kind: "bar",
          cell: (one) => <meter min={0} max={highest} value={figure(one, "cost")} aria-hidden="true" />,
        },
        {
          title: "Cold starts a day",
          kind: "number",
          cell: (one) => formatNumber(figure(one, "cold_starts_per_day")),
        },
        {
          title: "Mean wait",
          kind: "number",
          cell: (one) => formatDuration(figure(one, "wait_mean_ms")),
        },
        { title: "p99 wait", kind: "number", cell: (one) => formatDuration(figure(one, "wait_p99_ms")) },
      ]}
    />
  );
}

type LimitsProps = {
  readonly answer: WhatIfAnswer;
  readonly present: PolicyFigures;
  readonly selected: PolicyFigures;
  readonly onAsk: () => void;
};

/** From what the figures are computed, and how far they can be trusted. */
function Limits({ answer: { question, traffic }, present, selected, onAsk }: LimitsProps) {
  return (
    <p class="limits">
      {formatNumber(traffic.requests)} requests to {traffic.computes} computes from{" "}
      <time>{formatInstant(traffic.from)}</time> to <time>{formatInstant(traffic.to)}</time>, replayed under
      each delay with the same arrivals: exact given these arrivals and the start latency. Prices:{" "}
      {question.price_plan} plan, {question.price_list}, ${question.price_per_cu_hour} per CU-hour; a month is
      this period repeated. ± is half the width of the 95 % interval
      {selected.figures["cost"]?.margin_95 === undefined
        ? " of random start latencies"
        : " for these computes on other days"}
      .{" "}
      {isTooLittle(traffic.days, present) && (
        <b>
          Less than {ENOUGH_DAYS} days or {ENOUGH_STARTS} cold starts are too little to decide by.
        </b>
      )}{" "}
      <button type="button" class="link" onClick={onAsk}>
        Ask again
      </button>
    </p>
  );
}

/** The bound comes first. */
function delayOf({ policy }: PolicyFigures): number {
  return Number(/\d+$/.exec(policy)?.[0] ?? 0);
}

function isTooLittle(days: number, present: PolicyFigures): boolean {
  return days < ENOUGH_DAYS || figure(present, "cold_starts") < ENOUGH_STARTS;
}
