import { get } from "../client/request.ts";
import type { Branch, BranchData as Data } from "../client/types.ts";
import { Facts } from "../parts/facts.tsx";
import { formatBytes, formatInstant, formatNumber } from "../state/format.ts";
import { useReading } from "../state/reading.ts";
import { at } from "../state/world.ts";

/** Data that Postgres has stored for a branch. */
export function BranchData({ branch }: { readonly branch: Branch }) {
  const data = useReading(branch.id, () => get<Data>(`/branches/${branch.id}/data`));
  return (
    <>
      <h3>Postgres data</h3>
      <Stored data={data.value} />
    </>
  );
}

function Stored({ data }: { readonly data: Data | undefined }) {
  if (at.value !== undefined)
    return <p class="note">Shown for the present only. To read the data of this instant, fork here.</p>;
  if (data === undefined) return <p class="note">Reading …</p>;
  if (data.engine === null)
    return (
      <p class="note">
        None. No Postgres process has written to this branch: either none was started, or the server runs
        without an engine.
      </p>
    );
  return (
    <Facts
      facts={[
        ["Engine", data.engine],
        [
          "Stored up to",
          data.as_of === null
            ? "–"
            : `${formatInstant(data.as_of)}${data.exact ? "" : ", later rows are possible"}`,
        ],
        [
          "Size",
          data.size_bytes === 0 ? "0 B, refers to the data of another branch" : formatBytes(data.size_bytes),
        ],
        ["Instants with a position", formatNumber(data.points)],
        [
          "Available since",
          data.available_since === null ? "the first write" : formatInstant(data.available_since),
        ],
      ]}
    />
  );
}
