/** Size of a segment of the log: clusters are created with `--wal-segsize=1`. */
export const SEGMENT_BYTES = 1024 ** 2;
const SEGMENTS_PER_ID = 2 ** 32 / SEGMENT_BYTES;
const SEGMENT_NAME = /^[0-9A-F]{24}$/;
const HISTORY_NAME = /^[0-9A-F]{8}\.history$/;

/** The position as a number of bytes. */
export function parsePosition(lsn: string): number {
  const [high = "", low = ""] = lsn.split("/");
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

export function segmentOf(position: number): number {
  return Math.floor(position / SEGMENT_BYTES);
}

/** The number of a segment, on whatever timeline; `undefined` for other files. */
export function segmentNumber(fileName: string): number | undefined {
  if (!SEGMENT_NAME.test(fileName)) return undefined;
  return (
    Number.parseInt(fileName.slice(8, 16), 16) * SEGMENTS_PER_ID + Number.parseInt(fileName.slice(16), 16)
  );
}

/** Whether the file contains the start of a timeline. */
export function isTimelineHistory(fileName: string): boolean {
  return HISTORY_NAME.test(fileName);
}
