// Records docs/images/recording.svg and recording-dark.svg: a terminal in which seven days pass. The commands run
// against a server, and the lines are what they print: node scripts/recording.mjs. With `--check` it writes nothing
// and fails if a picture is out of date. Needs dist/.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const COMMANDS = [
  ["neonctl projects create --name shop", "a project, by the platform's own client"],
  ["standin clock advance 10s", "its operations finish"],
  ["standin status", ""],
  ["standin psql -- -c 'create table orders (id int)'", "real Postgres"],
  ["standin clock advance 7d", "a week passes"],
  ["standin status", ""],
];
/** The table of the client is wider than the picture. */
const SHOWN_WITHOUT_OUTPUT = "neonctl";
/** Free space differs between machines. */
const OF_THIS_MACHINE = /^data: /;

const directory = mkdtempSync(join(tmpdir(), "standin-recording-"));
const env = {
  ...process.env,
  PATH: `${join(process.cwd(), "bin")}:${join(process.cwd(), "node_modules/.bin")}:${process.env.PATH}`,
  ...{
    HOME: directory,
    CI: "1",
    STANDIN_DATA: join(directory, "shop"),
    STANDIN_PORT: "0",
    STANDIN_PG_PORT: "0",
  },
  ...{ NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" },
};
const sh = (command) => execFileSync("bash", ["-c", `${command} 2>&1`], { env, encoding: "utf8" });
execFileSync("chmod", ["755", directory]);
const server = spawn(
  join("bin", "standin"),
  ["serve", "--clock", "manual", "--seed", "7", "--start-at", "2026-01-05T09:00:00Z"],
  { env, stdio: "ignore" },
);
const lines = [];
try {
  sh("standin wait");
  for (const [command, comment] of COMMANDS) {
    lines.push({ text: command, comment, isCommand: true });
    const output = sh(`eval "$(standin env)"; ${command}`);
    if (!command.startsWith(SHOWN_WITHOUT_OUTPUT))
      for (const text of output.trimEnd().split("\n"))
        if (!OF_THIS_MACHINE.test(text)) lines.push({ text, comment: "", isCommand: false });
  }
} finally {
  server.kill("SIGTERM");
  await new Promise((resolve) => server.once("close", resolve));
  rmSync(directory, { recursive: true });
}

const LINE_PX = 22;
const CHARACTER_PX = 8.43;
const PADDING_PX = 20;
const LONGEST = Math.max(
  ...lines.map(({ text, comment }) => text.length + (comment === "" ? 2 : comment.length + 6)),
);
const WIDTH = Math.ceil(LONGEST * CHARACTER_PX) + 2 * PADDING_PX;
const HEIGHT = lines.length * LINE_PX + 2 * PADDING_PX + 30;
/** Seconds between a command and the next one, and between lines of output. */
const [PAUSE_S, LINE_S, END_S] = [1.6, 0.12, 5];

const COLORS = {
  "recording.svg": { paper: "#f7f8fa", line: "#d9dee7", ink: "#1c2330", faint: "#667085", prompt: "#0f8a5f" },
  "recording-dark.svg": {
    paper: "#161b24",
    line: "#2b3442",
    ink: "#e7ebf2",
    faint: "#98a2b3",
    prompt: "#4cc99a",
  },
};

function draw({ paper, line, ink, faint, prompt }) {
  let at = 0.4;
  const starts = lines.map(({ isCommand }, index) => {
    if (index > 0) at += isCommand ? PAUSE_S : LINE_S;
    return at;
  });
  const total = at + END_S;
  const percent = (seconds) => ((100 * seconds) / total).toFixed(2);
  const rows = lines.map(({ text, comment, isCommand }, index) => {
    const y = PADDING_PX + 42 + index * LINE_PX;
    const content = isCommand
      ? `<tspan fill="${prompt}">$ </tspan><tspan font-weight="600">${escaped(text)}</tspan>${comment === "" ? "" : `<tspan fill="${faint}">  # ${escaped(comment)}</tspan>`}`
      : escaped(text);
    return `<text class="l l${index}" x="${PADDING_PX}" y="${y}" xml:space="preserve">${content}</text>`;
  });
  const frames = starts.map(
    (start, index) =>
      `@keyframes k${index}{0%,${percent(start)}%{opacity:0}${percent(start + 0.05)}%,100%{opacity:1}}.l${index}{animation-name:k${index}}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
<title>A terminal: a project is created, a table is written, a week passes, and the compute is suspended</title>
<style>.l{fill:${ink};animation-duration:${total.toFixed(2)}s;animation-iteration-count:infinite}
${frames.join("\n")}
@media (prefers-reduced-motion: reduce){.l{animation:none}}</style>
<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10" fill="${paper}" stroke="${line}"/>
${[0, 1, 2].map((dot) => `<circle cx="${PADDING_PX + 6 + dot * 18}" cy="22" r="5" fill="${line}"/>`).join("\n")}
${rows.join("\n")}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

for (const [name, colors] of Object.entries(COLORS)) {
  const file = join("docs/images", name);
  const svg = draw(colors);
  if (!process.argv.includes("--check")) writeFileSync(file, svg);
  else if (readFileSync(file, "utf8") !== svg) {
    console.error(`${file} is out of date; run node scripts/recording.mjs`);
    process.exitCode = 1;
  }
}
