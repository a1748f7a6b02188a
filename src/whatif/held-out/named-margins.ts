import type { MarginsOf } from "./margins.ts";

/** Margins as fields of the JSON. */
export type NamedMargins<Figures> = {
  readonly margin_95: Figures | null;
  readonly margin_95_other_computes: Figures | null;
};

/**
 * `margins`: the margins, or why there are none. `margin_95_other_computes` is null if there are too few computes to
 * say how they differ.
 */
export function namedMargins<Source extends { readonly missingComputes: string | undefined }, Figures>(
  margins: Source | { readonly missing: string },
  marginsOf: (margins: Source) => MarginsOf<Figures> | undefined,
): NamedMargins<Figures> {
  const found = "missing" in margins ? undefined : marginsOf(margins);
  if (found === undefined || "missing" in margins) return { margin_95: null, margin_95_other_computes: null };
  return {
    margin_95: found.days,
    margin_95_other_computes: margins.missingComputes === undefined ? found.all : null,
  };
}
