import { get, getOf, hrefOfWorld, WORLD_NAME } from "../client/request.ts";
import type { Clock, WorldState } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { differencesOf } from "../state/differences.ts";
import { formatInstant, formatNumber } from "../state/format.ts";
import { useReading } from "../state/reading.ts";

const SHOWN = 200;

const COMPARED = "/state?fields=accounts,projects,branches,endpoints";

/** Current differences between this world and another one. */
export function WorldDifferences({
  other,
  onClose,
}: {
  readonly other: string;
  readonly onClose: () => void;
}) {
  const states = useReading(`differences ${other}`, () =>
    Promise.all([
      get<WorldState>(COMPARED),
      getOf<WorldState>(other, COMPARED),
      get<Clock>("/clock"),
      getOf<Clock>(other, "/clock"),
    ]),
  );
  if (states.value === undefined) return <p role="status">Reading both worlds …</p>;
  const [here, there, ourClock, theirClock] = states.value;
  const differences = differencesOf(here, there);
  return (
    <section aria-label={`Differences of ${WORLD_NAME} and ${other}`}>
      <div class="toolbar">
        <h2>
          {WORLD_NAME} and <a href={hrefOfWorld(other)}>{other}</a>
        </h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <p class="limits">
        {WORLD_NAME} is at {formatInstant(ourClock.now)} with {formatNumber(here.seq)} events, {other} at{" "}
        {formatInstant(theirClock.now)} with {formatNumber(there.seq)}.{" "}
        {differences.length === 0
          ? "Their accounts, projects, branches and computes are equal."
          : differences.length > SHOWN &&
            `The first ${SHOWN} of ${formatNumber(differences.length)} differences:`}
      </p>
      {differences.length > 0 && (
        <Table
          class="differences"
          rows={differences.slice(0, SHOWN).map((one, index, all) => ({
            ...one,
            isFirst: one.object !== all[index - 1]?.object,
          }))}
          keyOf={({ object, field }) => `${object} ${field}`}
          columns={[
            { title: "Object", cell: ({ object, isFirst }) => isFirst && object },
            { title: "Field", cell: ({ field }) => <code>{field}</code> },
            { title: WORLD_NAME, cell: (one) => shown(one.here) },
            { title: other, cell: (one) => shown(one.there) },
          ]}
        />
      )}
    </section>
  );
}

function shown(value: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatInstant(value) : value;
}
