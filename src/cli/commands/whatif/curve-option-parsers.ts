import { InvalidArgumentError } from "commander";
import { type ClientForm, parseClient } from "../../../whatif/coupled/client-forms.ts";
import { type DaySpan, parseDaySpan, SPAN_RULE } from "../../../whatif/held-out/day-split.ts";

export function parseDaySpanOption(text: string): DaySpan {
  const span = parseDaySpan(text);
  if (span !== undefined) return span;
  throw new InvalidArgumentError(`It ${SPAN_RULE}.`);
}

export function addClient(text: string, previous: readonly ClientForm[] | undefined): readonly ClientForm[] {
  try {
    return [...(previous ?? []), parseClient(text)];
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
