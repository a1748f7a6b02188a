/** The colors of reports and charts, for light screens and paper. */
export const LIGHT = {
  paper: "#ffffff",
  panel: "#f7f8fa",
  ink: "#1c2330",
  faint: "#5b6474",
  line: "#e2e6ec",
  accent: "#3565d4",
  "accent-soft": "#dbe5fb",
  best: "#0f8a5f",
  current: "#c2410c",
  bound: "#7c4dbd",
} as const;

const DARK: Readonly<Record<keyof typeof LIGHT, string>> = {
  paper: "#11151c",
  panel: "#181e28",
  ink: "#e7ebf2",
  faint: "#a3adbd",
  line: "#2b3442",
  accent: "#7ea6ff",
  "accent-soft": "#22314f",
  best: "#4cc99a",
  current: "#ff9a62",
  bound: "#bf9bf5",
};

const variables = (colors: Readonly<Record<string, string>>) =>
  `:root{${Object.entries(colors)
    .map(([name, color]) => `--${name}:${color}`)
    .join(";")}}`;

/** CSS variables, shared by the HTML report and the standalone SVG files. */
export const PALETTE = `${variables(LIGHT)}
@media (prefers-color-scheme:dark){${variables(DARK)}}
@media print{${variables({ ...LIGHT, line: "#d5dae2" })}}`;

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
