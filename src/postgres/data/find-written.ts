import type { SimTime } from "../../kernel/time.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import { parsePosition } from "../engine/log-position.ts";
import type { Volumes } from "../volumes/volumes.ts";

/** Log that a running engine may have written since the last mark. Marks are made when clients pause. */
const UNMARKED_BYTES = 16 * 1024 ** 2;

/**
 * The instant at which the log of a branch had reached a position; `undefined` if it has not, or if the position is
 * from before the branch wrote to its volume.
 */
export function findWritten(
  volumes: Volumes,
  { volumeId, writes }: BranchData,
  lsn: string,
  now: SimTime,
): SimTime | undefined {
  if (volumeId === undefined || writes !== true || !volumes.has(volumeId)) return undefined;
  const volume = volumes.volume(volumeId);
  const marks = volume.marks.all();
  const position = parsePosition(lsn);
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined || position < parsePosition(first.lsn)) return undefined;
  const reached = marks.find((mark) => parsePosition(mark.lsn) >= position);
  if (reached !== undefined) return reached.at;
  return volume.isOpen() && position <= parsePosition(last.lsn) + UNMARKED_BYTES ? now : undefined;
}
