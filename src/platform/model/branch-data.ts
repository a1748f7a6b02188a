import type { SimTime } from "../../kernel/time.ts";

/**
 * Where the data of a branch or of a snapshot is. Stored outside history: events do not contain data. A branch
 * without a row has no data yet.
 */
export type BranchData = DataReference & {
  /** Id of the branch or of the snapshot. */
  readonly id: string;
  /** The previous references of a branch that was restored, oldest first. `until` is exclusive. */
  readonly past?: readonly (DataReference & { readonly until: SimTime })[];
};

/** Start of data: the data of a branch or snapshot at an instant. */
export type DataSource = {
  readonly id: string;
  readonly at: SimTime;
  /** Position in the log of the volume that it writes to; if absent, the volume's newest mark up to `at`. */
  readonly lsn?: string;
};

/** The state of a volume at one point. */
export type DataReference = {
  /** Absent if there is no data. */
  readonly volumeId?: string;
  readonly at: SimTime;
  /** Position in the volume's log; if absent, the volume's newest mark up to `at`. */
  readonly lsn?: string;
  /** The branch writes to the volume, whose latest state is its data. `at` and `lsn` are its last known one. */
  readonly writes?: boolean;
  /** An engine has been started on the volume since `lsn` was stored, and its clean end is not stored yet. */
  readonly isOpen?: boolean;
  /** Instants before are not available: the log of the volume before was deleted. Absent: all are. */
  readonly since?: SimTime;
  /** The data is the schema only: its rows are deleted before the first use. */
  readonly schemaOnly?: boolean;
};

/** The ids of the volumes that rows refer to, also with the previous data of restored branches. */
export function volumesOf(rows: readonly BranchData[]): string[] {
  return rows.flatMap(({ volumeId, past = [] }) =>
    [volumeId, ...past.map((previous) => previous.volumeId)].filter((id) => id !== undefined),
  );
}

/** Whether the volumes still have the data of `row` at an instant. */
export function hasDataAt(row: BranchData | undefined, at: SimTime): boolean {
  const { since = at } = row === undefined ? {} : sourceAt(row, at);
  return at >= since;
}

function sourceAt(row: BranchData, at: SimTime): DataReference {
  return row.past?.find(({ until }) => until > at) ?? row;
}

/** The data of a source, for an object that only refers to it. */
export function dataOf(row: BranchData, { at, lsn }: DataSource): DataReference {
  const reference = dataAt(row, at);
  return lsn === undefined || reference.volumeId === undefined ? reference : { ...reference, lsn };
}

/** The data of `row` at an instant, for an object that only refers to it. */
export function dataAt(row: BranchData, at: SimTime): DataReference {
  const { volumeId, writes, isOpen, ...reference } = sourceAt(row, at);
  const schemaOnly = reference.schemaOnly === true ? { schemaOnly: true } : {};
  if (volumeId === undefined) return { at };
  if (writes !== true) {
    const lsn = reference.lsn === undefined ? {} : { lsn: reference.lsn };
    return { volumeId, at: reference.at, ...lsn, ...schemaOnly };
  }
  const isKnown = isOpen !== true && reference.at <= at && reference.lsn !== undefined;
  return { volumeId, at, ...(isKnown ? { lsn: reference.lsn } : {}), ...schemaOnly };
}

/**
 * The row in a copy of the world, as of `at`. The copy writes to no volume of its origin. `isHead`: the copy does
 * not go back, so the last stored state is the current one.
 */
export function copyBranchData(row: BranchData, at: SimTime, isHead: boolean): BranchData {
  const { id, past = [], ...current } = row;
  const source = past.find(({ until }) => until > at) ?? current;
  const isStored = source === current && current.lsn !== undefined && (isHead || current.at === at);
  const reference = dataAt(row, at);
  const copied = [
    ...past.filter(({ until }) => until <= at),
    // Points in time before the copy are found by the marks of the volume.
    ...(source.writes === true ? [{ ...source, until: at }] : []),
  ];
  return {
    id,
    ...reference,
    ...(isStored ? { lsn: current.lsn } : {}),
    ...(copied.length === 0 ? {} : { past: copied }),
  };
}
