import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { BranchData, DataReference } from "../../platform/model/branch-data.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import type { Engine } from "../engine/engine.ts";
import { parsePosition } from "../engine/log-position.ts";
import type { Mark } from "../volumes/marks.ts";
import type { Volume, VolumeBase } from "../volumes/volume.ts";
import type { Volumes } from "../volumes/volumes.ts";
import { baseFor } from "./branch-volumes.ts";

/** A base is a copy of a cluster, so it is not worth it for less log than this. */
const MIN_DELETED_BYTES = 64 * 1024 ** 2;

const TRIES_PER_LIMIT = 8;

/** Future start of the log of a volume, and a later position that the log has reached. */
export type LogCut = { readonly from: Mark; readonly until: string };

/** `undefined` if the log stays as it is. Of a log that is too long, half of the limit remains. */
export function chooseCut(
  marks: readonly Mark[],
  logStart: number,
  { oldest, maxBytes }: { readonly oldest: SimTime; readonly maxBytes: number },
): LogCut | undefined {
  const positions = marks.map(({ lsn }) => parsePosition(lsn));
  const end = positions.at(-1) ?? logStart;
  const retained = positions[marks.findLastIndex(({ at }) => at <= oldest)] ?? logStart;
  const byAge = retained - logStart < MIN_DELETED_BYTES ? logStart : retained;
  const bySize = end - logStart <= maxBytes ? logStart : end - maxBytes / 2;
  const wanted = Math.max(byAge, bySize);
  if (wanted === logStart) return undefined;
  const first = positions.findIndex((position) => position >= wanted);
  const [from, until] = [marks[first], marks[first + 1]?.lsn];
  return from === undefined || until === undefined ? undefined : { from, until };
}

/** Deletes the log that is older than the retention of its branch, and what exceeds its limit. */
export class LogRetention {
  readonly #engine: Engine;
  readonly #volumes: Volumes;
  readonly #maxBytes: number;
  /** The position from which on the log of a volume may be too long. */
  readonly #checkedFrom = new WeakMap<Volume, number>();

  constructor(engine: Engine, volumes: Volumes, maxBytes: number) {
    this.#engine = engine;
    this.#volumes = volumes;
    this.#maxBytes = maxBytes;
  }

  /** Whether the log of a volume has become too long. Tried again after a while, as it may not be possible yet. */
  isTooLong(volume: Volume, lsn: string): boolean {
    const end = parsePosition(lsn);
    if (end < (this.#checkedFrom.get(volume) ?? 0)) return false;
    // The beginning of the log only moves on.
    const limit = this.#logStart(volume) + this.#maxBytes;
    const isTooLong = end > limit;
    this.#checkedFrom.set(volume, isTooLong ? end + this.#maxBytes / TRIES_PER_LIMIT : limit);
    return isTooLong;
  }

  /** Creates later bases for the branches of a world. From then on the world refuses earlier instants. */
  async advanceBases(world: WorldHandle): Promise<void> {
    const written = await world.transact((transaction) => {
      forgetPastData(transaction);
      return transaction.world.branchData
        .toArray()
        .flatMap(({ id, volumeId, writes }) =>
          writes === true && volumeId !== undefined
            ? [{ id, volumeId, oldest: oldestInstant(transaction, id) }]
            : [],
        );
    });
    for (const { id, volumeId, oldest } of written)
      if (this.#volumes.has(volumeId))
        await this.#advanceBase(world, id, this.#volumes.volume(volumeId), oldest);
  }

  async #advanceBase(world: WorldHandle, branchId: string, volume: Volume, oldest: SimTime): Promise<void> {
    const limits = { oldest, maxBytes: this.#maxBytes };
    const logStart = this.#logStart(volume);
    const cut = chooseCut(volume.marks.all(), logStart, limits);
    if (cut === undefined) return;
    const { from, until } = cut;
    const unpin = this.#volumes.pin(volume.id);
    try {
      const [historyId = ""] = volume.id.split("/");
      const { path, release } = await this.#volumes.createBase(historyId, (to) =>
        this.#engine.advanceCluster({
          base: baseFor(volume, from.lsn).path,
          to,
          position: from.lsn,
          log: { archive: volume.logDirectory, dataDirectory: volume.dataDirectory, until },
        }),
      );
      try {
        // Postgres can continue from a checkpoint only. If there is no later one, the next search finds more.
        if (this.#engine.logStart(path) <= logStart) return;
        const isStored = await world.transact((transaction) => {
          const row = transaction.world.branchData.get(branchId);
          if (row?.writes !== true || row.volumeId !== volume.id) return false;
          transaction.storeBranchData({ ...row, since: from.at });
          return true;
        });
        if (isStored) this.#volumes.setBases(volume.id, [...volume.bases, { path, lsn: from.lsn }]);
      } finally {
        release();
      }
    } finally {
      unpin();
    }
  }

  /** Deletes the log that no reference of any world needs. */
  async deleteUnneeded(data: readonly BranchData[]): Promise<void> {
    const references = data.flatMap(({ past = [], ...current }) => [current, ...past]);
    for (const volumeId of new Set(references.map((reference) => reference.volumeId))) {
      if (volumeId === undefined || !this.#volumes.has(volumeId) || this.#volumes.isPinned(volumeId))
        continue;
      const volume = this.#volumes.volume(volumeId);
      if (volume.bases.length === 1 && volume.bases[0]?.lsn === undefined) continue;
      const needs = references
        .filter((reference) => reference.volumeId === volumeId)
        .map((reference) => needOf(volume, reference));
      await this.#trim(volume, needs);
    }
  }

  async #trim(volume: Volume, needs: readonly Need[]): Promise<void> {
    const newest = volume.bases.at(-1) as VolumeBase;
    const used = new Map<VolumeBase, number>([[newest, Number.POSITIVE_INFINITY]]);
    for (const { from, until } of needs) {
      const base = from === undefined ? (volume.bases[0] as VolumeBase) : baseFor(volume, from);
      used.set(base, Math.max(used.get(base) ?? 0, until));
    }
    const bases = volume.bases.filter((base) => used.has(base));
    // A kill may leave more log than needed until the next start, but never a base without its log.
    if (bases.length < volume.bases.length) this.#volumes.setBases(volume.id, bases);
    const needed = bases.map((base) => ({ base: base.path, until: used.get(base) ?? 0 }));
    await this.#engine.trimLog(volume.logDirectory, needed);
    volume.marks.deleteBefore(Math.min(...needs.map(({ firstAt }) => firstAt)));
  }

  #logStart({ bases }: Volume): number {
    return this.#engine.logStart((bases.at(-1) as VolumeBase).path);
  }
}

/** The part of a volume that a reference is about. */
type Need = {
  /** The first instant that is looked up in the marks. */
  readonly firstAt: SimTime;
  /** Absent: the beginning of the volume. */
  readonly from: string | undefined;
  /** In bytes. */
  readonly until: number;
};

function needOf({ marks, origin }: Volume, reference: DataReference & { readonly until?: SimTime }): Need {
  const { at, lsn, writes, since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = reference;
  if (writes !== true && lsn !== undefined)
    return { firstAt: Number.POSITIVE_INFINITY, from: lsn, until: parsePosition(lsn) };
  const [firstAt, lastAt] = writes === true ? [since, until] : [at, at];
  // While there is no later mark, more marks of the last instant may follow.
  const later = marks.all().find((mark) => mark.at > lastAt);
  return {
    firstAt,
    from: marks.find(firstAt)?.lsn ?? origin,
    until: later === undefined ? Number.POSITIVE_INFINITY : parsePosition(later.lsn),
  };
}

/** History before is not available. */
function oldestInstant({ world, now }: Pick<Transaction, "world" | "now">, branchId: string): SimTime {
  const project = world.projects.get(world.branches.get(branchId)?.projectId ?? "");
  return now - (project?.historyRetentionSeconds ?? 0) * SECOND;
}

/** Forgets what restored branches had before the retention of their projects. */
export function forgetPastData(transaction: Transaction): void {
  for (const row of transaction.world.branchData.toArray()) {
    const { past = [], ...current } = row;
    if (past.length === 0) continue;
    const oldest = oldestInstant(transaction, row.id);
    const retained = past.filter(({ until }) => until > oldest);
    if (retained.length === past.length) continue;
    transaction.storeBranchData({ ...current, ...(retained.length === 0 ? {} : { past: retained }) });
  }
}

/** Whether `forgetPastData` would forget any. A world that cannot be read has none. */
export function hasExpiredData(handle: WorldHandle): boolean {
  try {
    const view = handle.peek();
    return view.world.branchData
      .toArray()
      .some(({ id, past = [] }) => past.some(({ until }) => until <= oldestInstant(view, id)));
  } catch {
    return false;
  }
}
