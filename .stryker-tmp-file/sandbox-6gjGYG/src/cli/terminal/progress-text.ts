/**
 * Progress in units of the work. When files are read, `done` and `of` are bytes and `reading` has the rows.
 */
// @ts-nocheck

export type ProgressStep = {
  readonly done: number;
  readonly of: number;
  readonly elapsedMs: number;
  readonly reading?: RowProgress | undefined;
};

export type RowProgress = { readonly rows: number; readonly rowsPerSecond: number | undefined };

const MEGABYTE = 1_000_000;

/** `reading: 3,406,000 rows, 1,213,000 rows/s, 25 % of 461 MB, 8 s left` */
export function progressText(work: string, step: ProgressStep): string {
  const { done, of, reading } = step;
  const parts =
    reading === undefined
      ? [`${formatCount(done)} of ${formatCount(of)}`]
      : [...rowsText(reading), `${formatShare(done, of)} of ${formatSize(of)}`];
  return `${work}: ${[...parts, ...remainingText(step)].join(", ")}`;
}

function rowsText({ rows, rowsPerSecond }: RowProgress): string[] {
  return [
    `${formatCount(rows)} rows`,
    ...(rowsPerSecond === undefined ? [] : [`${formatCount(rowsPerSecond)} rows/s`]),
  ];
}

/** Extrapolates the average speed so far. */
function remainingText({ done, of, elapsedMs }: ProgressStep): string[] {
  if (done <= 0 || done >= of) return [];
  const seconds = Math.ceil((elapsedMs * (of - done)) / done / 1_000);
  return [seconds < 120 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`];
}

function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function formatShare(done: number, of: number): string {
  return `${of === 0 ? 100 : Math.floor((100 * done) / of)} %`;
}

function formatSize(bytes: number): string {
  return bytes < MEGABYTE
    ? `${formatCount(Math.ceil(bytes / 1_000))} kB`
    : `${formatCount(bytes / MEGABYTE)} MB`;
}
