import { DARK_PAGE, LIGHT_PAGE, paletteStyle } from "../../kernel/html-page.ts";

/** The colors of reports and charts, for light screens and paper. */
export const LIGHT = {
  ...LIGHT_PAGE,
  accent: "#3565d4",
  "accent-soft": "#dbe5fb",
  best: "#0f8a5f",
  current: "#c2410c",
  bound: "#7c4dbd",
} as const;

const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  ...DARK_PAGE,
  accent: "#7ea6ff",
  "accent-soft": "#22314f",
  best: "#4cc99a",
  current: "#ff9a62",
  bound: "#bf9bf5",
};

/** CSS variables, shared by the HTML report and the standalone SVG files. */
export const PALETTE = paletteStyle(LIGHT, DARK, { ...LIGHT, line: "#d5dae2" });

/** References to the variables of `PALETTE`. */
export const INK = {
  paper: "var(--paper)",
  text: "var(--ink)",
  faint: "var(--faint)",
  line: "var(--line)",
  accent: "var(--accent)",
  accentSoft: "var(--accent-soft)",
  best: "var(--best)",
  current: "var(--current)",
  bound: "var(--bound)",
} as const;
