const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Three digits, such as `1.25 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${Number(value.toPrecision(value >= 1_000 ? 4 : 3))} ${UNITS[unit]}`;
}
