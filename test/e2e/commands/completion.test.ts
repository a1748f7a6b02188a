import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

/** What bash offers after these words, the last of which is incomplete. */
async function completionsOf(lines: readonly (readonly string[])[]): Promise<string[][]> {
  const script = `${testDirectory()}/completion.bash`;
  const { code, stdout } = await runStandin(["completion", "bash"]);
  expect(code).toBe(0);
  writeFileSync(script, stdout);
  const calls = lines.map(
    (words) =>
      `COMP_WORDS=(standin ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _standin; echo "\${COMPREPLY[*]}"`,
  );
  const output = execFileSync("bash", ["--norc", "-c", `source ${script}\n${calls.join("\n")}`], {
    encoding: "utf8",
  });
  return output
    .slice(0, -1)
    .split("\n")
    .map((line) => line.split(" ").filter((word) => word !== ""));
}

test("bash completes commands, subcommands, options and values from a list", async () => {
  const lines = [
    ["exp"],
    ["clock", ""],
    ["clock", "set", "--wor"],
    ["--help", "whatif", "c"],
    ["completion", ""],
  ];
  const [commands, below, options, whatif, shells] = await completionsOf(lines);
  expect(commands).toEqual(["explain", "export"]);
  expect(below).toEqual(expect.arrayContaining(["show", "set", "advance", "--help"]));
  expect(options).toEqual(["--world"]);
  expect(whatif).toEqual(["curve", "compare", "capacity"]);
  expect(shells).toEqual(["bash", "zsh", "fish", "--help"]);
});

test("after an option, bash completes its values, or leaves file names to the shell", async () => {
  const lines = [
    ["wait", "--state", ""],
    ["status", "--data", ""],
    ["activity", "ep-one", "--kind", "q"],
  ];
  expect(await completionsOf(lines)).toEqual([["init", "active", "idle"], [], ["query"]]);
});

const LINES: readonly (readonly [line: readonly string[], completions: readonly string[]])[] = [
  [["exp"], ["explain", "export"]],
  [["clock", "set", "--wor"], ["--world"]],
  [
    ["wait", "--state", ""],
    ["active", "idle", "init"],
  ],
  [
    ["--help", "whatif", "c"],
    ["capacity", "compare", "curve"],
  ],
];

const isInstalled = (shell: string) => spawnSync(shell, ["-c", "exit"]).status === 0;
const inShell = (shell: string) => {
  const isMissing = !isInstalled(shell);
  return test.skipIf(isMissing).each(LINES);
};
const nameFor = (shell: string, action: string) =>
  isInstalled(shell) ? `${shell} ${action}` : `${shell} ${action} (skipped: ${shell} is not installed)`;

/** A directory with the script, under the name that the shell looks for. */
async function directoryWithScript(shell: string, name: string): Promise<string> {
  const directory = testDirectory();
  const { code, stdout } = await runStandin(["completion", shell]);
  expect(code).toBe(0);
  writeFileSync(`${directory}/${name}`, stdout);
  return directory;
}

function wordsPrintedBy(shell: string, args: readonly string[], home: string): string[] {
  const env = { PATH: process.env.PATH, HOME: home };
  const output = execFileSync(shell, args, { encoding: "utf8", env });
  return output.split(/\s+/).filter((word) => word !== "");
}

inShell("fish")(nameFor("fish", "completes %j"), async (words, expected) => {
  const directory = await directoryWithScript("fish", "standin.fish");
  const command = `source ${directory}/standin.fish; complete -C 'standin ${words.join(" ")}' | cut -f 1`;
  expect(wordsPrintedBy("fish", ["--no-config", "-c", command], directory).sort()).toEqual(expected);
});

inShell("zsh")(nameFor("zsh", "completes %j from the first time on"), async (words, expected) => {
  const directory = await directoryWithScript("zsh", "_standin");
  const quoted = ["standin", ...words].map((word) => `'${word}'`).join(" ");
  // Outside the line editor, compadd is replaced by a function that prints what it would offer.
  const program = `fpath=(${directory} $fpath); autoload -U compinit; compinit -u -D
compadd() { for word in "\${@[$(( \${@[(i)-]} + 1 )),-1]}"; do [[ $word == $PREFIX* ]] && print -r -- $word; done }
typeset -a words=(${quoted}); CURRENT=$#words; PREFIX=$words[-1]
eval $_comps[standin]; print next; eval $_comps[standin]; exit 0`;
  const printed = wordsPrintedBy("zsh", ["-f", "-c", program], directory);
  const next = printed.indexOf("next");
  expect([printed.slice(0, next).sort(), printed.slice(next + 1).sort()]).toEqual([expected, expected]);
});
