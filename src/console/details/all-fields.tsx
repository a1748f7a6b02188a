import { useSignal } from "@preact/signals";
import { Facts } from "../parts/facts.tsx";
import { withReadableInstants } from "../state/format.ts";

/** Every stored field of an object, to unfold. */
export function AllFields({ object }: { readonly object: object }) {
  const isOpen = useSignal(false);
  const onToggle = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    isOpen.value = currentTarget.open;
  };
  return (
    <details class="all-fields" onToggle={onToggle}>
      <summary>All fields</summary>
      {isOpen.value && <Facts facts={fieldsOf(object, "")} />}
    </details>
  );
}

/** `range: {min_cu: 1}` as `range.min_cu: 1`. */
function fieldsOf(object: object, prefix: string): [string, string][] {
  return Object.entries(object).flatMap(([name, value]): [string, string][] => {
    const path = `${prefix}${name}`;
    if (typeof value !== "object" || value === null) return [[path, withReadableInstants(String(value))]];
    if (Object.keys(value).length === 0) return [[path, "empty"]];
    return fieldsOf(value, `${path}.`);
  });
}
