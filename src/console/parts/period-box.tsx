import { isInPeriod, togglePeriod } from "../state/period.ts";

/** Selects the period that begins or ends at a row of a log. */
export function PeriodBox({ at, label }: { readonly at: string; readonly label: string }) {
  const instant = Date.parse(at);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${label}`}
      checked={isInPeriod(instant)}
      onChange={({ currentTarget }) => {
        togglePeriod(instant);
        // The click has changed the box, but a row within the period stays selected.
        currentTarget.checked = isInPeriod(instant);
      }}
    />
  );
}
