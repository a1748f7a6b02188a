/**
 * Command lines with a mistake, by subject: `command line => exit status, part of the message`. A word that begins
 * with `@` is a path in the directory of the wrong files. `@served` is the data directory of a running server on PORT,
 * `@stored` one without a server, and `@guarded` one whose server has a control token.
 */
export const PROVOKED_ERRORS: Readonly<Record<string, string>> = {
  "files of scenarios": `
run @empty.yaml => 2 empty.yaml:1:1
run @text.txt => 2 text.txt:1:1
run @cut.json => 2 cut.json:1:
run @comma.json => 2 comma.json:3:3
run @tab.yaml => 2 tab.yaml:3:1
run @directory => 2 directory
run @scenario-list.yaml => 2 the file
run @scenario-version.yaml => 2 version
run @scenario-length.yaml => 2 length
run @scenario-length-word.yaml => 2 length
run @scenario-seed.yaml => 2 seed
run @scenario-step.yaml => 2 reqest
run @scenario-method.yaml => 2 method
run @scenario-label.yaml => 2 endpoint
run @scenario-measure.yaml => 2 colds
run @scenario-fault.yaml => 2 listProject
run @scenario-traffic.yaml => 2 traffic
run @scenario-recording.yaml => 2 none.csv
run @scenario-clock.yaml => 2 advance
`,
  "files of seeds": `
serve --data @new --port 0 --seed-file @empty.yaml => 2 empty.yaml
serve --data @new --port 0 --seed-file @cut.json => 2 cut.json:1:
serve --data @new --port 0 --seed-file @tab.yaml => 2 tab.yaml:3:1
serve --data @new --port 0 --seed-file @directory => 2 --seed-file
serve --data @new --port 0 --seed-file @seed-email.yaml => 2 email
serve --data @new --port 0 --seed-file @seed-plan.yaml => 2 plan
serve --data @new --port 0 --seed-file @seed-project.yaml => 2 region
serve --data @new --port 0 --seed-file @seed-id.yaml => 2 id
serve --data @new --port 0 --seed-file @seed-size.yaml => 2 min_cu
serve --data @new --port 0 --seed-file @seed-key.yaml => 2 key
`,
  "files of profiles": `
serve --data @new --port 0 --profile @cut.json => 2 --profile
serve --data @new --port 0 --profile @comma.json => 2 comma.json
serve --data @new --port 0 --profile @quote.yaml => 2 --profile
serve --data @new --port 0 --profile @twice.yaml => 2 --profile
serve --data @new --port 0 --profile @empty.yaml => 2 --profile
serve --data @new --port 0 --profile @directory => 2 --profile
serve --data @new --port 0 --profile @none.yaml => 2 --profile
serve --data @new --port 0 --profile @profile-field.yaml => 2 colour
serve --data @new --port 0 --profile @profile-like.yaml => 2 like
serve --data @new --port 0 --profile @profile-latency.yaml => 2 start_latency
serve --data @new --port 0 --profile @profile-action.yaml => 2 durations.start
serve --data @new --port 0 --profile @profile-quantiles.yaml => 2 quantiles_ms
serve --data @new --port 0 --profile @profile-share.yaml => 2 share
serve --data @new --port 0 --profile @profile-list.yaml => 2 --profile
serve --data @new --port 0 --profile @profile-whatif.yaml => 2 pooled_connections
whatif curve @trace.csv --profile @profile-price.yaml => 2 price_per_cu_hour
whatif curve @trace.csv --profile @cut.json => 2 --profile
`,
  "files of faults": `
faults set @cut.json --data @stored => 2 cut.json
faults set @comma.json --data @stored => 2 comma.json
faults set @tab.yaml --data @stored => 2 tab.yaml
faults set @directory --data @stored => 2 directory
faults set @empty.yaml --data @stored => 2 empty.yaml
faults set @profile-list.yaml --data @stored => 2 profile-list.yaml
faults set @faults-name.yaml --data @stored => 2 name
faults set @faults-operation.yaml --data @served => 2 createProjectBranches
faults set @faults-when.yaml --data @served => 2 frist
faults set @faults-effect.yaml --data @stored => 2 effect
faults set @faults-status.yaml --data @stored => 2 status
faults set @faults-chance.yaml --data @stored => 2 probability
faults set @faults-twice.yaml --data @stored => 2 busy
faults set @faults-action.yaml --data @stored => 2 start_computer
`,
  "files of traffic": `
whatif curve @empty.yaml => 1 empty.yaml
whatif curve @text.txt => 1 text.txt
whatif curve @columns.csv --strict => 1 columns.csv
whatif curve @header.csv => 1 header.csv
whatif curve @instants.csv => 1 instants.csv
whatif curve @durations.csv --strict => 1 durations.csv
whatif curve @rows.ndjson => 1 rows.ndjson
whatif curve @cut.parquet => 1 cut.parquet
whatif curve @cut.standin-trace => 1 cut.standin-trace
whatif curve @directory => 1 directory
whatif curve --gaps @trace.csv => 1 trace.csv
whatif curve --gaps @gaps.csv => 1 gaps.csv
whatif curve @trace.csv --map endpoint=db => 1 db
whatif curve @trace.csv --format journal => 1 trace.csv
whatif curve @trace.csv --compute ep-b => 2 ep-b
whatif curve @trace.csv --from 2027-01-01T00:00:00Z => 2 --from
whatif curve @trace.csv --from 2026-02-01T00:00:00Z --to 2026-01-01T00:00:00Z => 2 --to
whatif curve @trace.csv --prices 2020-01-01 => 2 --prices
whatif curve @trace.csv --plan fre => 2 --plan
whatif curve @trace.csv --cu big => 2 --cu
whatif curve @trace.csv --time-zone Mars/Phobos => 2 --time-zone
whatif curve @trace.csv --test 3 => 2 --test
whatif compare @trace.csv --policy fixd:300 => 2 --policy
whatif compare @trace.csv --shard 4/3 => 2 --shard
whatif capacity @trace.csv --size 3..1 => 2 --size
whatif starts @trace.csv --data @stored => 2 --data
activity --file @text.txt --data @served => 1 text.txt
activity --file @instants.csv --data @served => 1 instants.csv
`,
  "files of answers": `
whatif apply @cut.json => 1 cut.json
whatif apply @answer.json => 1 answer.json
whatif apply @answer-list.json => 1 answer-list.json
whatif apply --plan @cut.json => 1 cut.json
whatif apply --plan @plan.json => 1 plan.json
whatif apply --revert @cut.json => 1 cut.json
whatif apply --revert @answer.json => 1 answer.json
whatif apply @answer.json --revert @answer.json => 2 --revert
whatif merge @cut.json --out @merged.json => 1 cut.json
report merge @cut.json => 2 cut.json
report merge @report.json => 2 report.json
open @text.txt => 2 text.txt
open @cut.json => 2 cut.json
account show @cut.standin-account => 1 cut.standin-account
account show @directory => 1 it is a directory
account show @text.txt/in.standin-account => 2 in.standin-account does not exist
account show @directory.standin-account => 1 it is a directory
account calibrate @cut.standin-account --out @out.yaml => 1 cut.standin-account
account arrivals @cut.standin-account --out @out.txt => 2 --out
shadow @text.txt => 1 text.txt
mirror --history @cut.standin-account --data @new => 1 cut.standin-account
`,
  "files of worlds": `
verify @text.txt => 1 text.txt
verify @schema.sqlite => 1 schema.sqlite
verify @newer.sqlite => 1 newer.sqlite
verify @directory => 1 directory
import @export.ndjson --data @new => 1 export.ndjson
import @text.txt --data @new => 1 text.txt
import @newer.sqlite --data @new => 1 newer.sqlite
replay @newer.sqlite => 1 newer.sqlite
replay --data @stored --until 99999 => 1 --until
replay --data @stored --until 2025-01-01T00:00:00Z => 1 --until
replay --data @stored --world other => 1 other
export --data @stored --out @text.txt => 1 text.txt
export --data @stored --out @nowhere/out => 1 nowhere
export --data @stored --out @text.txt/out => 1 text.txt
record --data @stored --out @text.txt => 1 text.txt
record --data @stored --out @text.txt/out.yaml => 1 text.txt
record --data @stored --from 99999 --out @out.yaml => 1 --from
snapshots restore first --data @stored => 1 first
snapshots delete first --data @stored => 1 first
snapshots push first --to @directory --data @stored => 1 first
snapshots pull @text.txt --data @new => 1 text.txt
snapshots pull ftp://127.0.0.1/x --data @new => 2 ftp
worlds create default --data @stored => 1 default
worlds delete other --data @stored => 1 other
compact --keep 5m --data @text.txt => 1 text.txt
verify --data @none => 1 none
status --data @stored --world other => 1 stored
`,
  "running servers": `
serve --data @other --port PORT => 1 --port
serve --data @served --port 0 => 1 served
import @good.sqlite --data @served --world copy => 1 served
compact --keep 5m --data @served --world other => 1 other
replay --data @served --world other => 1 other
status --data @served --world other => 1 other
keys revoke 99 --data @served => 1 99
keys create "" --data @served => 1 key_name
clock advance --to 2025-01-01T00:00:00Z --data @served => 1 --to
clock advance 9000000d --data @served => 2 <by>
clock set 0x --data @served => 2 <mode>
activity ep-none --data @served => 1 ep-none
explain ep-none --data @served => 1 ep-none
explain nothing --data @served => 1 nothing
wait --endpoint ep-none --state active --data @served => 1 ep-none
wait --project none --timeout 1s --data @served => 1 none
psql ep-none --data @served => 1 --pg-port
env --branch none --data @served => 1 --pg-port
faults clear busy --data @served => 1 busy
worlds create default --data @served => 1 default
worlds delete default --data @served => 1 default
worlds move default --to http://127.0.0.1:CLOSED --data @served => 1 127.0.0.1:CLOSED
snapshots create A_B --data @served => 1 name
snapshots restore first --data @served => 1 first
status --data @guarded --control-token wrong-wrong-wrong-wrong => 1 --control-token
status --url http://127.0.0.1:CLOSED => 1 127.0.0.1:CLOSED
status --url localhost => 2 --url
status --url localhost:4620 => 2 --url
run --target http://127.0.0.1:CLOSED @good.yaml => 2 127.0.0.1:CLOSED
run --target nowhere @good.yaml => 2 --target
run --target http://127.0.0.1:CLOSED --keep @kept @good.yaml => 2 --keep
drift --against http://127.0.0.1:CLOSED/api/v2 --against-key k --data @served => 2 127.0.0.1:CLOSED
drift --against nowhere --against-key k --data @served => 2 --against
drift --list @calls.txt --against http://127.0.0.1:CLOSED/api/v2 --against-key k --data @served => 2 calls.txt
drift --against SERVED --against-key wrong --data @served => 2 key
mirror --from SERVED --from-key wrong --dry-run --data @served => 1 key
mirror --from nowhere --from-key k --data @served => 2 --from
mirror --from SERVED --data @served => 2 --from-key
account pull --from http://127.0.0.1:CLOSED/api/v2 --from-key k --out @out.standin-account => 1 127.0.0.1:CLOSED
account pull --from SERVED --from-key wrong --out @out.standin-account => 1 key
account pull --from SERVED --from-key k --out @nowhere/out.standin-account => 1 its directory does not exist
account pull --from SERVED --from-key k --out @text.txt/out.standin-account => 1 a file has the name of its directory
account pull --from SERVED --from-key k --out @directory.standin-account => 1 it is a directory; name a file
whatif apply @good.json --to http://127.0.0.1:CLOSED/api/v2 => 2 good.json
requests --since -1 --data @served => 2 --since
events --since 99999999999999999999 --data @served => 2 --since
`,
  "targets and combinations": `
run @good.yaml --reporter json=@text.txt/out.json => 2 text.txt
run @good.yaml --reporter junit=@directory => 2 directory
run @good.yaml --keep @text.txt => 2 text.txt
run @good.yaml --failures @text.txt => 2 text.txt
run @good.yaml --only nothing => 2 nothing
run @good.yaml --workers 0 => 2 --workers
run @good.yaml --queue http://127.0.0.1:CLOSED => 2 --queue
run @good.yaml --queue redis://127.0.0.1:CLOSED => 2 --queue-key-file
run @good.yaml --queue redis://127.0.0.1:CLOSED --queue-key-file @key => 2 --queue-key-file
run @good.yaml --json --reporter junit => 2 --reporter
whatif fleet --out @out.txt => 2 --out
whatif fleet --out @text.txt/out.csv => 1 text.txt
whatif fleet --out @nowhere/out.csv => 1 nowhere
whatif import @trace.csv --out @out.csv => 2 --out
whatif import @trace.csv --out @nowhere/out.standin-trace => 1 nowhere
whatif curve @trace.csv --out @text.txt => 1 text.txt
whatif fleet --days 0 --out @out.csv => 2 --days
whatif sql --dialect duckdb --map at => 2 --map
hosts install --file @nowhere/hosts --data @served => 2 nowhere
serve --data @other --port 0 --tls-cert @server.pem --tls-key @server.pem => 2 --tls-cert
serve --data @other --port 0 --team-tokens @tokens.yaml --control-token secret-secret-secret => 2 tokens.yaml
serve --data @other --port 0 --team-tokens @tokens-right.yaml --control-token secret-secret-secret => 2 may
serve --data @other --port 0 --host 999.0.0.1 --control-token secret-secret-secret => 1 --host
serve --data @other --port 0 --pg-port PORT => 1 --pg-port
serve --data @stored --port 0 --seed 5 => 1 --seed
serve --data @stored --port 0 --seed-file @seed-email.yaml => 2 --seed-file
serve --data @other --port 0 --max-data lots => 2 --max-data
exec --seed-file @seed-plan.yaml -- true => 2 plan
exec -- no-such-program => 127 no-such-program
exec --profile @cut.json -- true => 2 --profile
hosts print --world other --data @served => 1 other
engines install 99 --data @other => 1 99
docs serv => 2 serv
`,
};
