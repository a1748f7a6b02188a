import type { Agreement as AgreementResult } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { formatInstant, formatNumber } from "../state/format.ts";
import { agreement } from "../state/shadow.ts";

/** Surprises that are listed; all are in `agreement.json`. */
const LISTED_SURPRISES = 500;

type Check = AgreementResult["checks"][number];
type Surprise = AgreementResult["surprises"][number];

/** How well the rules agree with the account whose past this world has. */
export function Agreement() {
  const result = agreement.value;
  if (result === undefined) return <p class="empty">This world has no agreement with an account.</p>;
  const { agrees, api, since, until, profile, tolerance, checks, surprises } = result;
  const found = `${formatNumber(surprises.length)} ${surprises.length === 1 ? "surprise" : "surprises"}`;
  return (
    <div class="agreement">
      <p class={`decision ${agrees ? "" : "differs"}`}>
        {agrees ? "Agrees with the rules" : "Differs from the rules"}: {found}
        {surprises.length > 0 && `, ${formatNumber(tolerance)} tolerated`}.
      </p>
      <p class="limits">
        The account at {api} from <time>{formatInstant(since)}</time> to <time>{formatInstant(until)}</time>,
        compared with profile {profile} by <code>standin shadow</code>. It is about the recorded past, not
        about what this world has done since.
      </p>
      <Surprises surprises={surprises} />
      <h3>Checks</h3>
      <Checks checks={checks} />
      <Notes checks={checks} />
      <h3>Rules</h3>
      <dl class="rules">
        {checks.map(({ check, evidence, rule }) => (
          <div key={check}>
            <dt>
              {check} ({evidence})
            </dt>
            <dd>{rule}</dd>
          </div>
        ))}
      </dl>
      <p class="limits">
        The letter is the evidence of the rule: R reference, S public specification, D documentation of the
        vendor, A assumption.
      </p>
    </div>
  );
}

function Surprises({ surprises }: { readonly surprises: readonly Surprise[] }) {
  if (surprises.length === 0) return null;
  const more = surprises.length - LISTED_SURPRISES;
  return (
    <>
      <h3>What the rules do not explain</h3>
      <ol class="failures">
        {surprises.slice(0, LISTED_SURPRISES).map((surprise, index) => (
          <li key={`${index} ${surprise.text}`}>
            <b>{surprise.text}</b> <time>{formatInstant(surprise.at)}</time>
            <p>{placesOf(surprise)}</p>
            <p>
              <small>
                {surprise.check} ({surprise.evidence}): {surprise.rule}
              </small>
            </p>
          </li>
        ))}
      </ol>
      {more > 0 && <p class="limits">And {formatNumber(more)} more: see agreement.json.</p>}
    </>
  );
}

function placesOf({ project, compute, operation }: Surprise): string {
  const named = [project, compute, operation === null ? null : `operation ${operation}`];
  return named.filter((name) => name !== null).join(" · ");
}

function Checks({ checks }: { readonly checks: readonly Check[] }) {
  const difference = (name: "least" | "median" | "p95" | "most", title: string) => ({
    title,
    kind: "number" as const,
    cell: ({ differences_ms }: Check) =>
      differences_ms === null ? "–" : `${formatNumber(differences_ms[name])} ms`,
  });
  return (
    <Table
      rows={checks}
      keyOf={({ check }) => check}
      columns={[
        { title: "Check", cell: ({ check }) => check },
        { title: "Evidence", cell: ({ evidence }) => evidence },
        { title: "Compared", kind: "number", cell: ({ compared }) => formatNumber(compared) },
        { title: "Skipped", kind: "number", cell: ({ skipped }) => formatNumber(skipped) },
        { title: "Surprises", kind: "number", cell: ({ surprises }) => formatNumber(surprises) },
        difference("least", "Least difference"),
        difference("median", "Median"),
        difference("p95", "95 %"),
        difference("most", "Most"),
      ]}
    />
  );
}

/** Checks that could not be made, with the reason. */
function Notes({ checks }: { readonly checks: readonly Check[] }) {
  const notes = checks.flatMap(({ check, note }) => (note === null ? [] : [{ check, note }]));
  return (
    <>
      {notes.map(({ check, note }) => (
        <p key={check} class="limits">
          {check}: {note}.
        </p>
      ))}
    </>
  );
}
