/** The colors of the page's theme, which a canvas cannot use by name. */
// @ts-nocheck

export type Colors = Readonly<Record<(typeof NAMES)[number], string>>;

const NAMES = [
  "text",
  "muted",
  "line",
  "grid",
  "panel",
  "active",
  "active-soft",
  "starting",
  "waiting",
  "arrival",
  "danger",
  "operation",
  "accent",
  "past",
] as const;

/** The values of the custom properties of an element, resolved by a hidden child for its color scheme. */
export function readColors(element: HTMLElement): Colors {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.parentElement?.append(probe);
  const style = getComputedStyle(probe);
  const colors = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, style.color];
  });
  probe.remove();
  return Object.fromEntries(colors) as Colors;
}
