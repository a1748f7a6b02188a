import { Command } from "commander";
import { plural } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { dataOption, envOption, jsonOption, RepeatableOption, worldOption } from "../terminal/options.ts";
import { print, printResult } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";
import type { BranchUpgrade, UpgradeOptions } from "./upgrade-branches.ts";

type CommandOptions = Omit<UpgradeOptions, "major" | "dryRun"> & {
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

/** `standin engines upgrade`. `parseMajor` as for the other commands of engines. */
export function upgradeCommand(parseMajor: (text: string) => number): Command {
  return new Command("upgrade")
    .argument("[major]", "major version of Postgres (default: that of each project)", parseMajor)
    .description("upgrade the data of branches to a newer version of Postgres")
    .addOption(dataOption())
    .addOption(worldOption())
    .addOption(
      new RepeatableOption("--branch <id>", "branch to upgrade; repeatable")
        .argParser((id: string, previous: readonly string[]) => [...previous, id])
        .default([], "all of the world"),
    )
    .addOption(envOption("--volumes <dir>", "directory of the branches' data (default: <data>/volumes)"))
    .addOption(
      envOption("--extension-name <name>", "that of the server, with the cache statistics").default(
        "platform",
        "platform",
      ),
    )
    .option("--dry-run", "print what would be upgraded")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Dumps each branch with pg_dump, restores it into a new cluster, compares both, and
then replaces the data of the branch in one transaction. A kill at any time leaves
the previous data in use; repeat the command. Stop the server first. Needs both
versions of Postgres and the programs pg_dump and pg_restore.

The previous data is retained until the history retention of the project ends,
because points in time before the upgrade, snapshots and other branches use it. The API's
pg_version of a project does not change.

Exit status: 0 all branches have the version; without an argument, a newer one is
fine, too. 1 a branch could not be upgraded and has its previous data, or is newer
than the version of the argument. 2 usage error.

Examples:
  $ standin engines upgrade --dry-run
  $ standin engines upgrade
  $ standin engines upgrade 18 --branch br-cool-sun-a5x2k8c1`,
    )
    .action(async (major: number | undefined, { dryRun, ...options }: CommandOptions) => {
      const { upgradeBranches } = await import("./upgrade-branches.ts");
      const branches = await upgradeBranches({ ...options, major, dryRun: dryRun === true }, (text) =>
        process.stderr.write(`standin: ${text}\n`),
      );
      printResult(options, { world: options.world, branches: branches.map(asJson) }, describe(branches));
      if (options.json !== true) for (const note of branches.flatMap(notesOf)) print(`${note}\n`);
      const failed = branches.filter(({ result }) => result === "failed").length;
      if (failed > 0)
        throw new CliError(
          `${failed} of ${branches.length} branches could not be upgraded; they have their former data`,
        );
      const newer = branches.filter(({ result }) => result === "newer").length;
      if (major !== undefined && newer > 0)
        throw new CliError(
          `${newer} of ${branches.length} branches cannot have version ${major}: data cannot be carried to an older version`,
        );
    });
}

function describe(branches: readonly BranchUpgrade[]): string {
  if (branches.length === 0) return "no branch of this world has data";
  return formatTable(
    ["BRANCH", "NAME", "FROM", "TO", "RESULT"],
    branches.map((branch) => [
      branch.branchId,
      branch.name,
      String(branch.from),
      String(branch.to),
      resultOf(branch),
    ]),
  );
}

function resultOf(branch: BranchUpgrade): string {
  switch (branch.result) {
    case "planned":
      return "would be upgraded";
    case "same":
      return "has this version";
    case "newer":
      return "stays: data cannot be carried to an older version";
    case "failed":
      return `failed: ${branch.error}`;
    case "upgraded": {
      const { tables, rows, sequences, roles, extensions } = branch.carried;
      return `upgraded: ${plural(tables, "table")} with ${plural(rows, "row")}, ${plural(sequences, "sequence")}, ${plural(roles, "role")}, ${plural(extensions, "extension")}`;
    }
    default:
      return branch satisfies never;
  }
}

function notesOf(branch: BranchUpgrade): readonly string[] {
  const left = branch.result === "upgraded" ? branch.carried.left : [];
  const differs =
    branch.result === "upgraded" && branch.to !== branch.pgVersion
      ? [
          `${branch.branchId}: its project still says pg_version ${branch.pgVersion}; new branches without data have that version`,
        ]
      : [];
  return [...left.map((what) => `${branch.branchId}: not carried: ${what}`), ...differs];
}

function asJson(branch: BranchUpgrade) {
  const { branchId, name, projectId, pgVersion, from, to, result } = branch;
  return {
    branch_id: branchId,
    name,
    project_id: projectId,
    pg_version: pgVersion,
    from,
    to,
    result,
    ...(branch.result === "failed" ? { error: branch.error } : {}),
    ...(branch.result === "upgraded" ? branch.carried : {}),
  };
}
