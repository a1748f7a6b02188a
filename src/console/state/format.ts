const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (value: number) => String(value).padStart(2, "0");

/** `2026-03-02`, in UTC like every time of the console. */
export function formatDate(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** `15:23:07`, with milliseconds if there are any. */
export function formatTime(ms: number): string {
  const text = new Date(ms).toISOString();
  return text.slice(11, ms % SECOND === 0 ? 19 : 23);
}

export function formatInstant(instant: string | number): string {
  const ms = typeof instant === "number" ? instant : Date.parse(instant);
  return `${formatDate(ms)} ${formatTime(ms)}`;
}

/** A text in which `2026-03-02T15:23:07.000Z` is `2026-03-02 15:23:07`. */
export function withReadableInstants(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => formatInstant(instant));
}

/** `4 min 54 s`, with at most two units. */
export function formatDuration(ms: number): string {
  const [sign, rest] = ms < 0 ? ["−", -ms] : ["", ms];
  if (rest < SECOND) return `${sign}${Math.round(rest)} ms`;
  if (rest < MINUTE) return `${sign}${trim((Math.round(rest / 100) / 10).toFixed(1))} s`;
  const units = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "min"],
    [SECOND, "s"],
  ] as const;
  const index = units.findIndex(([unit]) => rest >= unit);
  const [unit, name] = units[index] ?? [SECOND, "s"];
  const [small, smallName] = units[index + 1] ?? [1, "ms"];
  const many = Math.floor(rest / unit);
  const few = Math.floor((rest % unit) / small);
  return `${sign}${many} ${name}${few === 0 ? "" : ` ${few} ${smallName}`}`;
}

/** `−4:54` for a countdown, `1:02:03` from an hour on. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let value = bytes;
  let index = 0;
  for (; value >= 1_024 && index < units.length - 1; index += 1) value /= 1_024;
  return `${index === 0 ? value : value.toPrecision(3)} ${units[index]}`;
}

/** At most three significant digits, without exponents, `1,234` from a thousand on. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  const [whole = "0", part] = String(rounded).split(".");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

export function formatDollars(value: number): string {
  return value >= 100 ? `$${formatNumber(value)}` : `$${value.toFixed(2)}`;
}

/** `ComputeSuspended` as `compute suspended`. */
export function words(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
}

function trim(text: string): string {
  return text.replace(/\.0$/, "");
}
