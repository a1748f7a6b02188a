import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";

/** Each place where a command takes an input file, as its help writes it, with a call that names a missing one. */
const CALLS: Readonly<Record<string, string>> = {
  "account arrivals <file>": "FILE.standin-account --out OUT.ndjson",
  "account calibrate <file>": "FILE.standin-account --out OUT.yaml",
  "account show <file>": "FILE.standin-account",
  "activity --file <recording>": "--file FILE.ndjson",
  "advise [traces...]": "FILE.csv",
  "drift --list <file>": "--list FILE.txt --against http://127.0.0.1:1/api/v2 --against-key key",
  "exec --seed-file <file>": "--seed-file FILE.yaml -- true",
  "export [path]": "FILE.sqlite --out OUT",
  "faults set <file>": "FILE.yaml",
  "import <file>": "FILE.sqlite",
  "mirror --history <file>": "--history FILE.standin-account",
  "open [file]": "FILE.json",
  "replay [path]": "FILE.sqlite",
  "report merge <files...>": "FILE.json",
  "run <files...>": "FILE.yaml",
  "run --queue-key-file <file>": "FILE.yaml --queue redis://127.0.0.1:1 --queue-key-file FILE",
  "serve --seed-file <file>": "--seed-file FILE.yaml",
  "serve --tls-cert <file>": "--tls-cert FILE --tls-key FILE",
  "serve --tls-key <file>": "--tls-cert FILE --tls-key FILE",
  "serve --team-tokens <file>": "--team-tokens FILE.yaml --control-token secret-secret-secret",
  "shadow <file>": "FILE.standin-account",
  "snapshots pull <source>": "FILE.sqlite --data OUT",
  "verify [path]": "FILE.sqlite",
  "whatif apply [answer]": "FILE.json",
  "whatif apply --plan <name|file>": "--plan FILE.json",
  "whatif apply --revert <file>": "--revert FILE.json",
  "whatif experiment <file>": "FILE.standin-account --max-extra-cold-starts 20/day --days 3",
  "whatif import <traces...>": "FILE.csv --out OUT.standin-trace",
  "whatif merge <files...>": "FILE.json --out OUT",
  "worker --queue-key-file <file>": "--queue redis://127.0.0.1:1 --queue-key-file FILE",
};

const QUEUE = "FILE --queue redis://127.0.0.1:1 --queue-key-file FILE";
const TRACES = ["attribute", "backtest", "capacity", "compare", "curve", "profiles", "quota", "starts"];
const WITH_PROFILE = ["advise", "whatif experiment", ...TRACES.map((name) => `whatif ${name}`)];

const ALL_CALLS: Readonly<Record<string, string>> = {
  ...CALLS,
  "whatif backtest --queue-key-file <file>": QUEUE,
  "whatif compare --queue-key-file <file>": QUEUE,
  "whatif curve --gaps <file>": "--gaps FILE.csv",
  ...Object.fromEntries(TRACES.map((name) => [`whatif ${name} [traces...]`, "FILE.csv"])),
};

const HOSTS = "a file of the system, to which names of a running server are written";
/** What the help names as a file, but is no input of the command alone. */
const OTHERS: Readonly<Record<string, string>> = {
  "hosts check --file <path>": HOSTS,
  "hosts install --file <path>": HOSTS,
  "hosts remove --file <path>": HOSTS,
  "serve --hosts-file <path>": "may be missing",
  ...Object.fromEntries(
    WITH_PROFILE.map((command) => [`${command} --profile <name|file>`, "as --profile of serve"]),
  ),
};

test.each(Object.entries(ALL_CALLS))(
  "standin %s exits with 2 if the file does not exist",
  async (place, args) => {
    const directory = testDirectory();
    const command = /^[a-z]+(?: [a-z]+)?(?= [-<[])/.exec(place)?.[0] ?? "";
    // In one pass, because the random name of the directory may contain "OUT".
    const words = args.replace(/FILE|OUT/g, (word) => join(directory, word === "FILE" ? "none" : "out"));
    const { code, stdout, stderr } = await runStandin([...command.split(" "), ...words.split(" ")], {
      STANDIN_DATA: join(directory, "data"),
    });
    expect({ code, stdout, stderr }).toEqual({
      ...{ code: 2, stdout: "" },
      stderr: expect.stringContaining(join(directory, "none")),
    });
    expect(stderr).toContain("does not exist");
    expect(readdirSync(directory)).toEqual([]);
  },
);

test("each place where the help of a command names an input file is tested", async () => {
  const places: string[] = [];
  const read = async (command: readonly string[]): Promise<void> => {
    const { stdout } = await runStandin([...command, "--help"]);
    const name = command.join(" ");
    const usage = /^Usage: .*$/m.exec(stdout)?.[0] ?? "";
    for (const [argument] of usage.matchAll(/[<[](?:file|files\.\.\.|path|traces\.\.\.|answer|source)[>\]]/g))
      places.push(`${name} ${argument}`);
    for (const [, option, value] of stdout.matchAll(
      /^ {2}(--[a-z-]+) (<(?:file|path|recording|name\|file)>)/gm,
    ))
      if (option !== "--out") places.push(`${name} ${option} ${value}`);
    const below = stdout.split("\nCommands:\n")[1]?.split("\n\n")[0] ?? "";
    if (command.length > 0)
      for (const [, subcommand = ""] of below.matchAll(/^ {2}([a-z-]+)(?= |$)/gm))
        if (subcommand !== "help") await read([...command, subcommand]);
  };
  const { stdout } = await runStandin(["--help"]);
  for (const [, command = ""] of stdout.matchAll(/^ {2}([a-z]+) /gm))
    if (command !== "help") await read([command]);
  expect(places.sort()).toEqual([...Object.keys(ALL_CALLS), ...Object.keys(OTHERS)].sort());
}, 60_000);
