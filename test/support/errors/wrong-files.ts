import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SCENARIO = "version: 1\nworld: {projects: {shop: {}}}\n";
const ACCOUNT = "version: 1\naccounts:\n  - id: acme\n    email: a@b.co\n";
const ROWS = "endpoint_id,at,duration_ms\n";

/** Input files with a mistake, and a few without one, by name. */
const WRONG_FILES: Readonly<Record<string, string>> = {
  "empty.yaml": "",
  "text.txt": "no file of standin\n",
  "cut.json": '[{"name": "busy", "effect": {"answer": {"status": 423}}',
  "comma.json": '{\n  "name": "busy"\n  "effect": "drop"\n}\n',
  "tab.yaml": "version: 1\nsteps:\n\t- at: 1s\n",
  "quote.yaml": 'name: "never closed\nlike: "2024"\n',
  "twice.yaml": "name: a\nname: b\n",

  "scenario-list.yaml": "- 1\n- 2\n",
  "scenario-version.yaml": "version: 7\nworld: {projects: {shop: {}}}\n",
  "scenario-length.yaml": `${SCENARIO}length: 5\n`,
  "scenario-length-word.yaml": `${SCENARIO}length: soon\n`,
  "scenario-seed.yaml": `${SCENARIO}seed: many\n`,
  "scenario-step.yaml": `${SCENARIO}steps:\n  - name: deploy\n    reqest: GET /projects\n`,
  "scenario-method.yaml": `${SCENARIO}steps:\n  - request: {method: FETCH, path: /projects}\n`,
  "scenario-label.yaml": `${SCENARIO}steps:\n  - activity: {endpoint: shp}\n`,
  "scenario-measure.yaml": `${SCENARIO}length: 5m\nexpect:\n  - colds: {equals: 1}\n`,
  "scenario-fault.yaml": `${SCENARIO}steps:\n  - fault: {name: busy, on: {operation: listProject}, effect: drop}\n`,
  "scenario-traffic.yaml": `${SCENARIO}length: 1h\ntraffic:\n  - {name: visits, to: shop, pattern: constant, every: fast}\n`,
  "scenario-recording.yaml": `${SCENARIO}length: 1h\ntraffic:\n  - {name: visits, to: shop, pattern: replay, file: none.csv}\n`,
  "scenario-clock.yaml": `${SCENARIO}steps:\n  - advance: -5m\n`,

  "seed-email.yaml": "version: 1\naccounts:\n  - {id: acme, email: nobody}\n",
  "seed-plan.yaml": `${ACCOUNT}    plan: pad\n`,
  "seed-project.yaml": `${ACCOUNT}    projects:\n      - {id: quiet-wind-12345678, name: shop, region: mars}\n`,
  "seed-id.yaml": `${ACCOUNT}    projects:\n      - {id: Quiet Wind, name: shop}\n`,
  "seed-size.yaml": `${ACCOUNT}    projects:\n      - {id: quiet-wind-12345678, name: shop, branches: [{id: br-quiet-wind-12345678, name: main, endpoints: [{min_cu: big}]}]}\n`,
  "seed-key.yaml": `${ACCOUNT}    keys: [{name: ci, key: 5}]\n`,

  "profile-field.yaml": "colour: red\n",
  "profile-like.yaml": 'like: "2025"\n',
  "profile-latency.yaml": "start_latency: soon\n",
  "profile-action.yaml": "durations: {start: {quantiles_ms: [1, 2]}}\n",
  "profile-quantiles.yaml": "durations: {start_compute: {quantiles_ms: [5, 1]}}\n",
  "profile-share.yaml": "failures: {start_compute: {share: 7}}\n",
  "profile-price.yaml": "price_per_cu_hour: cheap\n",
  "profile-list.yaml": "- 1\n",
  "profile-whatif.yaml": "pooled_connections: 5\n",

  "faults-object.yaml": "faults: []\n",
  "faults-name.yaml": "- {effect: drop}\n",
  "faults-operation.yaml": "- {name: busy, on: {operation: createProjectBranches}, effect: drop}\n",
  "faults-when.yaml": "- {name: busy, on: {operation: '*'}, when: {frist: 3}, effect: drop}\n",
  "faults-effect.yaml": "- {name: busy, on: {operation: '*'}, effect: drp}\n",
  "faults-status.yaml": "- {name: busy, on: {operation: '*'}, effect: {answer: {status: 200}}}\n",
  "faults-chance.yaml": "- {name: busy, on: {operation: '*'}, when: {probability: 2}, effect: drop}\n",
  "faults-twice.yaml": "- &a {name: busy, on: {operation: '*'}, effect: drop}\n- *a\n",
  "faults-action.yaml": "- {name: slow, on: {action: start_computer}, effect: fail}\n",

  "columns.csv": "database,when,ms\nshop,2026-01-01T00:00:00Z,5\n",
  "header.csv": ROWS,
  "instants.csv": `${ROWS}ep-a,yesterday,5\n`,
  "durations.csv": `${ROWS}ep-a,2026-01-01T00:00:00Z,long\n`,
  "trace.csv": `${ROWS}ep-a,2026-01-01T00:00:00Z,5\nep-a,2026-01-02T00:00:00Z,5\n`,
  "rows.ndjson": '{"endpoint_id":"ep-a","at":"2026-01-01T00:00:00Z"\n',
  "cut.parquet": "PAR1",
  "cut.standin-trace": "standin trace",
  "cut.standin-account": "standin account",
  "cut.standin": '{"standin":1}\n',
  "export.ndjson": '{"format":"standin","version":99}\n',
  "gaps.csv": "gap,count\n1,2\n",

  "answer.json": '{"version": 99}\n',
  "answer-list.json": "[]\n",
  "plan.json": '{"standin": "plan"}\n',
  "report.json": '{"runs": 5}\n',
  "tokens.yaml": "teams: red\n",
  "tokens-right.yaml":
    "version: 1\nteams:\n  - {name: red, env: RED_TOKEN, worlds: [default], may: [rewind]}\n",
  "calls.txt": "FETCH /projects\n",
  "server.pem": "no certificate\n",
  "schema.sqlite": "SQLite format 3",
  key: "short\n",
  "good.yaml": `${SCENARIO}length: 5m\n`,
  "directory/inside.txt": "text\n",
  "directory.standin-account/inside.txt": "text\n",
};

export function writeWrongFiles(directory: string): void {
  for (const [name, text] of Object.entries(WRONG_FILES)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}
