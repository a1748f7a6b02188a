import { expect, test, vi } from "vitest";
import { reportFailedFile } from "../../../../src/cli/run/failure-places.ts";
import { repeatingCommand } from "../../../../src/cli/run/repeating-command.ts";
import { readScenario, type ScenarioJob } from "../../../../src/cli/run/run-job.ts";

const WORLD = "version: 1\nworld: { seed: 4, projects: { shop: {} } }\n";
const SQL = `${WORLD}steps: [{ sql: { on: shop/main, query: "select 1" } }]\n`;
const WITHOUT_SQL = `${WORLD}length: 1h\n`;

function commandOf(text: string, job: Partial<ScenarioJob>): string {
  const file = "mine.yaml";
  const given = { file, text, variant: 0, recordings: new Map(), bail: false, ...job };
  return repeatingCommand(given, readScenario(text, file));
}

test.each<[string, string, Partial<ScenarioJob>, string]>([
  ["another directory", SQL, { enginesData: "./shop" }, " --data ./shop"],
  ["a directory whose name has a space", SQL, { enginesData: "my shop" }, " --data 'my shop'"],
  ["the default directory", SQL, { enginesData: "./.standin" }, ""],
  ["no directory", SQL, {}, ""],
  ["no step with SQL", WITHOUT_SQL, { enginesData: "./shop" }, ""],
  ["the directory of a worker", SQL, { enginesData: "./worker", isWithoutFiles: true }, ""],
])("the command that repeats a run has the directory of Postgres that it needs: %s", (_, text, job, end) => {
  expect(commandOf(text, job)).toBe(`standin run mine.yaml --seed 4${end}`);
});

test("a run on a server is repeated with the Postgres of the server", () => {
  const target = { url: "http://127.0.0.1:4620" };
  expect(commandOf(SQL, { enginesData: "./shop", target, seed: 7 })).toBe(
    "standin run mine.yaml --seed 7 --target http://127.0.0.1:4620",
  );
});

test("the commands for the file of a failed run quote its paths for a shell", () => {
  let printed = "";
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    printed += text;
    return true;
  });
  reportFailedFile(
    {
      failedFile: "my failures/it's.yaml",
      title: "mine",
      file: "a b/mine.yaml",
      recordings: { size: 1 },
      needs: { sql: true },
    },
    { data: "my shop" },
  );
  write.mockRestore();
  expect(printed).toContain("open it with: standin open 'my failures/it'\\''s.yaml';");
  expect(printed).toContain(
    "repeat it with: standin run 'my failures/it'\\''s.yaml' --files-from 'a b' --data 'my shop'\n",
  );
});
