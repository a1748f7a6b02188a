import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const TRACE = "endpoint_id,at,duration_ms\nep-a,2026-01-01T00:00:00Z,5\n";

test("commands overwrite no file of the user whose name they used for unfinished output", async () => {
  const directory = testDirectory();
  const at = (name: string) => join(directory, name);
  const data = at("data");
  const server = await startServer(data, ["--clock", "manual", "--pg-port", "none"]);
  await server.kill("SIGTERM");
  writeFileSync(at("in.csv"), TRACE);
  const outputs: Readonly<Record<string, readonly string[]>> = {
    "t.standin-trace": ["whatif", "import", at("in.csv")],
    "t.csv": ["whatif", "fleet", "--computes", "1", "--days", "1", "--pattern", "steady"],
    "w.sqlite": ["export", "--data", data],
    "e.ndjson": ["export", "--data", data, "--events"],
    "r.yaml": ["record", "--data", data],
  };
  for (const [name, command] of Object.entries(outputs)) {
    writeFileSync(at(`${name}.unfinished`), "mine");
    const { code, stderr } = await runStandin([...command, "--out", at(name)]);
    expect({ name, code, stderr: code === 0 ? "" : stderr }).toEqual({ name, code: 0, stderr: "" });
    expect({ name, text: readFileSync(at(`${name}.unfinished`), "utf8") }).toEqual({ name, text: "mine" });
  }
  expect(readdirSync(directory).filter((name) => name.endsWith(".unfinished"))).toEqual(
    Object.keys(outputs)
      .map((name) => `${name}.unfinished`)
      .sort(),
  );
});
