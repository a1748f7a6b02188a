import { escapeHtml } from "./escape-html.ts";

/** One HTML file without scripts or references to other files. `style` and `main` are used as they are. */
export function htmlPage(title: string, style: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}

type Colors = Readonly<Record<string, string>>;

/** The colors that all reports share, for light screens and paper. */
export const LIGHT_PAGE = {
  paper: "#ffffff",
  panel: "#f7f8fa",
  ink: "#1c2330",
  faint: "#5b6474",
  line: "#e2e6ec",
} as const;

export const DARK_PAGE: Readonly<Record<keyof typeof LIGHT_PAGE, string>> = {
  paper: "#11151c",
  panel: "#181e28",
  ink: "#e7ebf2",
  faint: "#a3adbd",
  line: "#2b3442",
};

/** CSS variables by the names of the colors. */
export function paletteStyle(light: Colors, dark: Colors, print: Colors = light): string {
  return `${variables(light)}
@media (prefers-color-scheme:dark){${variables(dark)}}
@media print{${variables(print)}}`;
}

function variables(colors: Colors): string {
  return `:root{${Object.entries(colors)
    .map(([name, color]) => `--${name}:${color}`)
    .join(";")}}`;
}

/** The rules that begin the style of a report. */
export function baseStyle(lineHeight: number): string {
  return `*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);font:16px/${lineHeight} ui-sans-serif,system-ui,-apple-system,"Segoe UI",sans-serif;-webkit-text-size-adjust:100%}
body{margin:0}`;
}
