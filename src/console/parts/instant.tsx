import { formatInstant } from "./format.ts";

export function Instant({ at }: { readonly at: string }) {
  return <time dateTime={at}>{formatInstant(at)}</time>;
}
