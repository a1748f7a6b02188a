import type { AccountReport } from "../client/types.ts";
import { Drawing } from "../parts/drawing.tsx";
import { Table } from "../parts/table.tsx";
import { accountReport } from "../state/account-report.ts";

type ReportTable = AccountReport["tables"][number];

const LIMIT_TITLES = {
  exact: "Exact",
  simulated: "How far to trust these figures",
  left_out: "Left out",
} as const;

/** Cost of other delays for the account whose past this world has, as far as its operations show it. */
export function Account() {
  const report = accountReport.value;
  if (report === undefined) return <p class="empty">This world has no past of an account.</p>;
  const [decision, ...others] = report.answer;
  return (
    <div class="account">
      <p class="decision">{decision}</p>
      <ul class="sentences">
        {others.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <ul class="cards">
        {report.facts.map(({ label, value, note }) => (
          <li key={label}>
            <span>{label}</span>
            <b>{value}</b>
            <small>{note}</small>
          </li>
        ))}
      </ul>
      {report.charts.map(({ name, title, caption, svg, narrow_svg }) => (
        <figure key={name}>
          <h3>{title}</h3>
          <Drawing class="wide" svg={svg} />
          <Drawing class="narrow" svg={narrow_svg} />
          <figcaption>{caption}</figcaption>
        </figure>
      ))}
      {report.tables.map((table) => (
        <TableOfReport key={table.name} table={table} />
      ))}
      <Limits report={report} />
    </div>
  );
}

function TableOfReport({ table: { title, headings, rows, note } }: { readonly table: ReportTable }) {
  return (
    <section>
      <h3>{title}</h3>
      <Table
        rows={rows}
        keyOf={(row) => row.join("|")}
        columns={headings.map((heading, column) => ({
          title: heading,
          ...(column === 0 ? {} : { kind: "number" as const }),
          cell: (row: readonly string[]) => row[column],
        }))}
      />
      {note !== null && <p class="limits">{note}</p>}
    </section>
  );
}

function Limits({ report: { limits, subject } }: { readonly report: AccountReport }) {
  return (
    <section>
      {(Object.keys(LIMIT_TITLES) as (keyof typeof LIMIT_TITLES)[])
        .filter((kind) => limits[kind].length > 0)
        .map((kind) => (
          <div key={kind}>
            <h3>{LIMIT_TITLES[kind]}</h3>
            {limits[kind].map((sentence) => (
              <p key={sentence} class="limits">
                {sentence}
              </p>
            ))}
          </div>
        ))}
      <p class="limits">
        {subject}. It is about the recorded past, not about what this world has done since.{" "}
        <code>standin whatif curve</code> answers with other prices and delays.
      </p>
    </section>
  );
}
