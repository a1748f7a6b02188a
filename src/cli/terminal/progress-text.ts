/** How far a work is, in whatever it counts. Of a reading, bytes are counted, and the rows that were in them are told. */
export type Step = {
  readonly done: number;
  readonly of: number;
  readonly elapsedMs: number;
  readonly reading?: Reading | undefined;
};

export type Reading = { readonly rows: number; readonly rowsPerSecond: number | undefined };

const MEGABYTE = 1_000_000;

/** `reading: 3,406,000 rows, 1,213,000 a second, 25 % of 461 MB, 8 s left` */
export function progressText(work: string, step: Step): string {
  const { done, of, reading } = step;
  const told = reading === undefined ? [`${count(done)} of ${count(of)}`] : [...rowsOf(reading), `${share(done, of)} of ${size(of)}`];
  return `${work}: ${[...told, ...leftOf(step)].join(", ")}`;
}

function rowsOf({ rows, rowsPerSecond }: Reading): string[] {
  return [`${count(rows)} rows`, ...(rowsPerSecond === undefined ? [] : [`${count(rowsPerSecond)} a second`])];
}

/** As if it went on as it has gone so far. */
function leftOf({ done, of, elapsedMs }: Step): string[] {
  if (done <= 0 || done >= of) return [];
  const seconds = Math.ceil((elapsedMs * (of - done)) / done / 1_000);
  return [seconds < 120 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`];
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function share(done: number, of: number): string {
  return `${of === 0 ? 100 : Math.floor((100 * done) / of)} %`;
}

function size(bytes: number): string {
  return bytes < MEGABYTE ? `${count(Math.ceil(bytes / 1_000))} kB` : `${count(bytes / MEGABYTE)} MB`;
}
