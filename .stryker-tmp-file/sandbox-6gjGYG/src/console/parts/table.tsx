// @ts-nocheck
import type { ComponentChildren, JSX } from "preact";

export type Column<Row> = {
  /** The heading; for a column of buttons it is read to screen readers only. */
  readonly title: string;
  readonly kind?: "number" | "actions" | "bar";
  readonly cell: (row: Row) => ComponentChildren;
};

/** A table that scrolls sideways where it does not fit. */
export function Table<Row>({
  columns,
  rows,
  keyOf,
  isSelected,
  class: className,
}: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => JSX.IntrinsicAttributes["key"];
  readonly isSelected?: (row: Row) => boolean;
  readonly class?: string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a region that has the focus.
    <div class="scroll" tabIndex={0}>
      <table class={className}>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th scope="col" key={title} class={classOf(kind)}>
                {kind === "actions" || kind === "bar" ? <span class="hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={isSelected?.(row) ? "selected" : ""}>
              {columns.map(({ title, kind, cell }) => (
                <td key={title} class={classOf(kind)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf(kind: Column<unknown>["kind"]): string {
  if (kind === "number") return "number";
  return kind === "bar" ? "bar-column" : "";
}
