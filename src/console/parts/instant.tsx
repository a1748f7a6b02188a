import { formatDate, formatTime } from "../state/format.ts";

export function Instant({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  return (
    <time dateTime={at}>
      <span>{formatDate(ms)}</span> <span>{formatTime(ms)}</span>
    </time>
  );
}
