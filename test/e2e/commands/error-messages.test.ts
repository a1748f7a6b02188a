import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";

/**
 * Command lines with a mistake, their exit status, and the beginning of the message: 2 for a command line, or a file of
 * instructions, that cannot be used; 1 for a command that failed.
 */
const MISTAKES = `
serve --port abc => 2 --port: expected a whole number from 0 to 65535, got "abc"
serve --port 70000 => 2 --port: expected a whole number from 0 to 65535, got "70000"
serve --port => 2 --port: expected a value (--port <n>)
serve --prot 1 => 2 unknown option '--prot'; did you mean
serve --data package.json --port 0 => 2 --data: expected a directory, but package.json is a file or is below one
verify package.json => 1 package.json is corrupt or not a world file
import package.json => 1 package.json is corrupt or not a world file
record --data ./.standin --out x.yaml => 1 ./.standin does not exist; create it with: standin serve, or name another directory
advise --price many => 2 unknown option '--price'; did you mean --prices?
serve extra => 2 too many arguments for serve: expected none, got 1
serve --console of => 2 --console: expected on, read-only or off, got "of"; did you mean off?
serve --clock fast => 2 --clock: expected real, manual, or a factor like 60x, up to 1000000x, got "fast"
serve --start-at yesterday => 2 --start-at: expected an ISO 8601 instant like 2026-01-31T12:00:00Z, got "yesterday"
serve --seed -1 => 2 --seed: expected a whole number from 0 to 9007199254740991, got "-1"
serve --profile 2025 => 2 --profile: expected 2024, 2026 or a readable file, got "2025"
serve --plan pad => 2 --plan: expected paid or free, got "pad"; did you mean paid?
serve --operations imediate => 2 --operations: expected timed or immediate, got "imediate"; did you mean immediate?
serve --keep-history 5 => 2 --keep-history: expected a duration with a unit, such as 90s, 10m, 2h or 7d, or forever, got "5"
serve --backup-every 1 => 2 --backup-every: expected a unit, such as 1s or 1ms, got "1"
serve --data "" => 2 --data: expected the path of a directory, got ""
serve --max-data lots => 2 --max-data: expected a size such as 500MiB, 4GiB or 2GB, or a number of bytes, got "lots"
serve --max-branch-history 1MiB => 2 --max-branch-history: expected a size of at least 16MiB, got "1MiB"
serve --host-domain 127.0.0.1 => 2 --host-domain: expected a host name such as localhost or db.test, whose last part is not a numbe
serve --start-delay soon => 2 --start-delay: expected a duration like 3s, a range like 1s..5s, or a log-normal one like 3s~0.5
serve --projects-limit many => 2 --projects-limit: expected a whole number from 0 to 1000000, or plan, got "many"
serve --extension-name 1x => 2 --extension-name: expected 1 to 40 of a-z, 0-9 and _, not beginning with a digit, got "1x"
serve --sql-clock wrld => 2 --sql-clock: expected machine or world, got "wrld"; did you mean world?
serve --pg-port x => 2 --pg-port: expected a whole number from 0 to 65535, got "x"
serve --port 0 --port 1 => 2 --port: given twice; it accepts one value
serve --seed-file none.yaml => 2 --seed-file: none.yaml does not exist
serve --engine none --engine-bin x => 2 --engine-bin cannot be combined with --engine none
serve --log-level loud => 2 --log-level: expected debug, info, warn, error or silent, got "loud"
serve --cell A_B => 2 --cell: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B"
serve --host 0.0.0.0 => 2 --host 0.0.0.0: not a loopback address, so anyone on the network could change the world; set a t
serve --accept-loss A_B => 2 --accept-loss: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B
serve --close-idle never => 2 --close-idle: expected a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "never"
serve --tls-cert c.pem => 2 --tls-cert and --tls-key must be given together
serve --tls-cert c.pem --tls-key k.pem => 2 --tls-cert: c.pem does not exist
serve --keep-backups 0 => 2 --keep-backups: expected a whole number from 1 to 10000, got "0"
sreve => 2 unknown command 'sreve'
--colour => 2 unknown option '--colour'
keys => 2 Usage: standin keys [options] [command]
keys creat x => 2 unknown command 'creat'
keys create => 2 missing required argument 'name'
keys revoke first => 2 <id>: expected a whole number from 1 to 9007199254740991, got "first"
clock advance => 2 give exactly one of: a duration such as 5m, --to <instant>, --next
clock advance 5 => 2 <by>: expected a unit, such as 5s or 5ms, got "5"
clock advance later => 2 <by>: expected a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "later"
clock advance -5m => 2 the clock cannot go backwards: expected a duration such as 5m, got "-5m"
clock set fast => 2 <mode>: expected real, manual, or a factor like 60x, up to 1000000x, got "fast"
clock set => 2 missing required argument 'mode'
clock advnce => 2 unknown command 'advnce'
status --world A_B => 2 --world: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B"
status => 1 no server is running at none; start one with: standin serve --data none
wait --endpoint ep-x => 2 --endpoint and --state must be given together
wait --state active => 2 --endpoint and --state must be given together
wait --endpoint ep-x --state asleep => 2 --state: expected init, active or idle, got "asleep"
wait --timeout soon => 2 --timeout: expected a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "soon"
activity => 2 expected the id of a compute, or --file with a recording
activity ep-x --duration long => 2 --duration: expected a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, got "long"
activity ep-x --at never => 2 --at: expected an ISO 8601 instant like 2026-01-31T12:00:00Z, got "never"
events --since x => 2 --since: expected a whole number from 0 to 9007199254740991, got "x"
events --follow => 1 no server is running at none; start one with: standin serve --data none
requests --status abc => 2 --status: expected a status such as 423, a class such as 5xx, or none for a lost connection, got
requests --method FETCH => 2 --method: expected GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS, got "FETCH"
explain => 2 missing required argument 'id'
explain foo => 1 none has no world; create one with: standin serve --data none
snapshots => 2 Usage: standin snapshots [options] [command]
snapshots create => 2 missing required argument 'name'
snapshots restor x => 2 unknown command 'restor'
snapshots restore => 2 missing required argument 'name'
snapshots pull => 2 missing required argument 'source'
snapshots pull x --sha256 12 => 2 --sha256: expected 64 hexadecimal digits, got "12"
worlds create => 2 missing required argument 'name'
worlds delete => 2 missing required argument 'name'
worlds create A_B => 2 <name>: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B"
faults set => 2 missing required argument 'file'
faults set nonesuch => 2 nonesuch: does not exist
faults list => 1 none has no world; create one with: standin serve --data none
replay --at yesterday => 2 unknown option '--at'
replay none => 2 none does not exist
verify none => 2 none does not exist
export none => 2 --out <file> is required
export --out => 2 --out: expected a value (--out <file>)
import none.jsonl => 2 none.jsonl does not exist
import => 2 missing required argument 'file'
compact none => 2 --keep <duration> is required
compact --keep 5 => 2 --keep: expected a unit, such as 5s or 5ms, got "5"
drift => 2 --against <url> is required
drift --to x => 2 --against <url> is required
mirror => 2 --from <url> is required, unless --history is given
mirror x => 2 too many arguments for mirror: expected none, got 1
mirror --history none.standin-account => 2 none.standin-account does not exist
account pull => 2 --from <url> is required
account show none.json => 2 none.json does not exist
docs nonesuch => 2 there is no topic "nonesuch"; list all topics with: standin docs --list
docs serv => 2 there is no topic "serv"; did you mean "serve"?
init extra => 2 too many arguments for init: expected none, got 1
completion => 2 missing required argument 'shell'
completion tcsh => 2 <shell>: expected bash, zsh or fish, got "tcsh"
open --world A_B => 2 --world: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B"
exec => 2 missing required argument 'command'
exec -- => 2 missing required argument 'command'
psql --world A_B => 2 --world: expected 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends, got "A_B"
hosts instal => 2 unknown command 'instal'
engines install x => 2 <major>: expected a major version such as 16, got "x"
engines upgrade x => 2 <major>: expected a major version such as 16, got "x"
engines upgrade --branch => 2 --branch: expected a value (--branch <id>)
engines upgrade 18 --data none => 1 --data none: it contains no worlds
engines install => 2 missing required argument 'major'
report merge => 2 missing required argument 'files'
report merge none.json => 2 none.json: does not exist
run => 2 missing required argument 'files'
run none.yaml => 2 cannot read the scenario files:
run --seed x f.yaml => 2 --seed: expected a whole number from 0 to 4294967295, got "x"
run --reporter junt f.yaml => 2 --reporter: expected pretty, json, junit, github or html, got "junt"; did you mean junit?; a fil
run --reporter junit= f.yaml => 2 --reporter: expected a file after "=", such as junit=report.txt, got "junit="
run --shard 4/3 f.yaml => 2 --shard: expected a part such as 1/3, of at most 1000 parts, got "4/3"
run --workers 0 f.yaml => 2 --workers: expected a whole number from 1 to 64, got "0"
run --workers x f.yaml => 2 --workers: expected a whole number from 1 to 64, got "x"
record --out => 2 --out: expected a value (--out <file>)
record none => 2 --out <file> is required
worker => 2 --queue is required: the URL of a Redis server, such as redis://localhost:6379
worker --queue x => 2 --queue: expected the URL of a Redis server, such as redis://localhost:6379
advise --target-savings x => 2 unknown option '--target-savings'
advise none.csv => 2 none.csv does not exist
whatif => 2 Usage: standin whatif [options] [command]
whatif curv => 2 unknown command 'curv'
whatif curve none.csv => 2 none.csv does not exist
whatif curve --delay soon f.yaml => 2 --delay: expected whole seconds from 0 to 604800, a duration like 5m or 1h, or never, got "soon"
whatif curve --policy foo f.yaml => 2 unknown option '--policy'
advise --slo fast f.yaml => 2 --slo: expected a limit on a percentile of the wait, such as "p99 wait < 2s" or "p95 wait < 500m
whatif curve --max-cost -1 f.yaml => 2 --max-cost: expected a number, at least 0, got "-1"
whatif curve --cpu-share 2 f.yaml => 2 --cpu-share: expected a share above 0 and at most 1, such as 50% or 0.5, got "2"
whatif curve --from yesterday f.yaml => 2 --from: expected an ISO 8601 instant like 2026-01-31T12:00:00Z, got "yesterday"
whatif compare --policy fixed:x f.yaml => 2 --policy: "fixed:x": expected whole seconds from 0 to 604800, such as fixed:300
whatif compare --policy hybrid:range=9h f.yaml => 2 --policy: range in "hybrid:range=9h": expected 1h to 4h
whatif backtest --test 7 f.yaml => 2 unknown option '--test'
whatif capacity --size 2..1 f.yaml => 2 --size: expected a size such as 1, or a range such as 0.25..2, got "2..1"
whatif fleet --pattern stedy --out x.csv => 2 --pattern: expected azure, steady, on-off, office-hours, subscriber, health-check, cron, bursts,
whatif fleet => 2 --out <file> is required
whatif apply none.json => 2 none.json: does not exist
whatif apply => 2 give either an answer of whatif curve, or --plan with a file of whatif experiment, or --revert with a file
whatif import none.csv => 2 --out <file> is required
whatif import => 2 --out <file> is required
whatif quota --price x f.yaml => 2 unknown option '--price'
whatif starts --map foo f.yaml => 2 --map: expected <field>=<column> with a field of endpoint, at, duration, end, source, kind; got 
whatif sql => 2 --dialect <name> is required
whatif sql --dialect oracl => 2 --dialect: expected duckdb, clickhouse, spark, bigquery, snowflake, redshift or postgres, got "o
whatif merge => 2 missing required argument 'files'
whatif profiles x => 2 x does not exist
whatif attribute none.csv => 2 none.csv does not exist
whatif curve f.yaml --client foo => 2 --client: "foo" is not known; expected one of: subscriber:reconnect=5s · loop:think=10s,service=
`
  .trim()
  .split("\n")
  .map((line) => /^(.*) => (\d) (.*)$/.exec(line)?.slice(1) as [string, string, string]);

test.each(MISTAKES)("standin %s: exit status %s, %s", async (line, status, beginning) => {
  const args = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const { code, stderr } = await runStandin(args, { STANDIN_DATA: "none" });
  expect(stderr.replace(/^standin: /, "").slice(0, beginning.length)).toBe(beginning);
  expect(code).toBe(Number(status));
  expectReadable(stderr);
});

/** Neither a stack, nor the words of a library. */
function expectReadable(stderr: string): void {
  expect(stderr).not.toMatch(/^ {4}at |internal error|ENOENT/m);
}
