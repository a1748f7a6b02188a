import type { ComputeFigures, PolicyFigures } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { formatDollars, formatDuration, formatNumber } from "../state/format.ts";
import { findCompute, nameOfCompute, selection } from "../state/world.ts";
import { change, figure, uncertainty } from "./what-if-figures.ts";

type ComputeTableProps = {
  readonly policy: PolicyFigures;
  /** Number of computes with traffic. */
  readonly computes: number;
  readonly perMonth: number;
};

/** The computes whose cost changes most under a policy, the largest change first. */
export function ComputeTable({ policy, computes, perMonth }: ComputeTableProps) {
  const rows = policy.by_compute ?? [];
  const before = ({ figures }: ComputeFigures, name: string) =>
    (figures[name]?.value ?? 0) - (figures[name]?.difference ?? 0);
  const compared = (title: string, name: string, format: (value: number) => string) => ({
    title,
    kind: "number" as const,
    cell: (one: ComputeFigures) => (
      <>
        {format(figure(one, name))}
        <small>
          {" "}
          {change(figure(one, name), before(one, name))}
          {uncertainty(one.figures, name, format)}
        </small>
      </>
    ),
  });
  return (
    <section aria-labelledby="what-if-computes">
      <h3 id="what-if-computes">By compute</h3>
      <p class="limits">
        {rows.length < computes
          ? `The ${rows.length} of ${formatNumber(computes)} computes whose cost changes most.`
          : "The largest change of cost is first."}
      </p>
      <Table
        rows={rows}
        keyOf={({ endpoint_id }) => endpoint_id}
        isSelected={({ endpoint_id }) => selection.value?.id === endpoint_id}
        columns={[
          { title: "Compute", cell: (one) => <ComputeName id={one.endpoint_id} /> },
          compared("Cost a month", "cost", (value) => formatDollars(value * perMonth)),
          compared("Cold starts a day", "cold_starts_per_day", formatNumber),
          compared("Mean wait", "wait_mean_ms", formatDuration),
          { title: "p99 wait", kind: "number", cell: (one) => formatDuration(figure(one, "wait_p99_ms")) },
        ]}
      />
    </section>
  );
}

/** A deleted compute has no details. */
function ComputeName({ id }: { readonly id: string }) {
  const compute = findCompute(id);
  if (compute === undefined)
    return (
      <>
        <code>{id}</code> <small>deleted</small>
      </>
    );
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        selection.value = { kind: "compute", id };
      }}
    >
      {nameOfCompute(compute)}
    </button>
  );
}
