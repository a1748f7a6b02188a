import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { runStandin } from "../support/in-process-command.ts";
import { testDirectory } from "../support/running-server.ts";

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

test("zsh loads the script for bash, and fish has a line for each option", async () => {
  const [bash, zsh, fish] = await Promise.all(
    ["bash", "zsh", "fish"].map(async (shell) => (await runStandin(["completion", shell])).stdout),
  );
  expect(zsh).toBe(`#compdef standin\nautoload -U +X bashcompinit && bashcompinit\n${bash}`);
  expect(fish).toContain(
    "complete -c standin -n '__fish_seen_subcommand_from wait' -l state -x -a 'init active idle' -d ",
  );
  expect(fish).toContain("complete -c standin -n '__fish_use_subcommand' -f -a serve -d ");
});

test("an unknown shell is a usage error", async () => {
  expect((await runStandin(["completion", "tcsh"])).code).toBe(2);
});
