import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { testDirectory } from "../../support/server/running-server.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Action = {
  readonly inputs: { readonly options: { readonly default: string } };
  readonly runs: { readonly steps: readonly { readonly run: string }[] };
};

test("the GitHub action starts a server, and exports its address and a key that it accepts", async () => {
  const runner = testDirectory();
  const bin = join(runner, "bin");
  const environmentFile = join(runner, "github-env");
  mkdirSync(bin);
  writeFileSync(environmentFile, "");
  const npx = join(bin, "npx");
  writeFileSync(npx, `#!/bin/sh\nshift\nexec node "${join(ROOT, "dist/standin.js")}" "$@"\n`);
  chmodSync(npx, 0o755);
  const { inputs, runs } = parse(readFileSync(join(ROOT, "action/action.yml"), "utf8")) as Action;
  const environment = {
    HOME: runner,
    PATH: `${bin}:${process.env["PATH"]}`,
    RUNNER_TEMP: runner,
    GITHUB_ENV: environmentFile,
    OPTIONS: `${inputs.options.default} --port 0 --pg-port none`,
  };
  for (const { run } of runs.steps)
    execFileSync("bash", ["-euo", "pipefail", "-c", run], { env: environment, stdio: "pipe" });
  const exported = Object.fromEntries(
    readFileSync(environmentFile, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(/=(.*)/s, 2) as [string, string]),
  );
  try {
    const answer = await fetch(`${exported["NEON_API_HOST"]}/projects`, {
      headers: { Authorization: `Bearer ${exported["NEON_API_KEY"]}` },
    });
    expect(answer.status).toBe(200);
  } finally {
    execFileSync(npx, ["standin", "stop"], { env: { ...environment, ...exported } });
  }
});
