# Ruby's pg: types, prepared statements, pipelines, COPY, notifications, cancellation, errors.
require 'pg'
require 'json'

URI_GIVEN, MODE = ARGV

def describe(error)
  fields = { severity: PG::Result::PG_DIAG_SEVERITY, sqlstate: PG::Result::PG_DIAG_SQLSTATE,
             message: PG::Result::PG_DIAG_MESSAGE_PRIMARY, detail: PG::Result::PG_DIAG_MESSAGE_DETAIL,
             hint: PG::Result::PG_DIAG_MESSAGE_HINT, position: PG::Result::PG_DIAG_STATEMENT_POSITION,
             constraint: PG::Result::PG_DIAG_CONSTRAINT_NAME, table: PG::Result::PG_DIAG_TABLE_NAME }
  result = error.respond_to?(:result) ? error.result : nil
  described = { type: error.class.name, message: error.message }
  described.merge!(fields.transform_values { |code| result.error_field(code) }) if result
  described
end

# A case that needs a session of its own does not run through the pooler, which shares sessions.
def run_case(name, needs_session: false)
  return if needs_session && MODE == 'pooled'

  begin
    connection = PG.connect(URI_GIVEN)
    outcome = { result: yield(connection) }
  rescue StandardError => e
    outcome = { error: describe(e) }
  ensure
    connection&.close
  end
  puts JSON.generate({ case: name, **outcome })
  $stdout.flush
end

run_case('uses TLS') { |c| c.ssl_in_use? }
run_case('knows its session') do |c|
  [c.user, c.db, c.protocol_version, c.server_version, c.internal_encoding.to_s, c.transaction_status]
end
run_case('reads results') do |c|
  result = c.exec('select 1 as a, null as b, true as c, 1.5::numeric as d from generate_series(1, 3)')
  [result.fields, result.values, result.ntuples, result.ftype(3), result.fmod(3), result.cmd_status, result.to_a]
end
run_case('sends parameters with types') do |c|
  c.exec_params('select $1::int + 1, $2::text, $3::bytea, $4::text[]',
                [41, 'é', { value: "\x00\xff".b, type: 17, format: 1 }, '{a,NULL,"b,c"}']).values
end
run_case('reads binary values') do |c|
  c.exec_params("select 7::int8, 'x'::text, 1.25::float8", [], 1).values.flatten.map { |value| value.unpack1('H*') }
end
run_case('maps types') do |c|
  c.type_map_for_results = PG::BasicTypeMapForResults.new(c)
  c.type_map_for_queries = PG::BasicTypeMapForQueries.new(c)
  row = c.exec_params("select $1::int[], '2026-01-02 03:04:05+00'::timestamptz, 0.1::float8, '{\"a\": 1}'::jsonb, 't'::bool",
                      [[1, nil, 3]]).values[0]
  row.map(&:inspect)
end
run_case('prepares, describes and executes') do |c|
  c.prepare('plan', 'select $1::int * 2 as double, $2::text as t')
  described = c.describe_prepared('plan')
  [described.nparams, described.paramtype(0), described.fields, (1..5).map { |n| c.exec_prepared('plan', [n, 'a']).values }]
end
run_case('prepares a name twice', needs_session: true) do |c|
  c.prepare('plan', 'select 1')
  c.prepare('plan', 'select 2')
end
run_case('executes an unknown statement', needs_session: true) { |c| c.exec_prepared('unknown', []) }
run_case('commits and rolls back') do |c|
  c.exec('create table accounts (id int primary key, amount int constraint enough check (amount >= 0))')
  c.transaction { |t| t.exec('insert into accounts values (1, 100)') }
  failed = begin
    c.transaction do |t|
      t.exec('update accounts set amount = 7')
      t.exec('update accounts set amount = -1')
    end
  rescue PG::CheckViolation => e
    describe(e)
  end
  [failed, c.exec('select * from accounts').values, c.transaction_status]
end
run_case('reports a duplicate') do |c|
  c.exec('create table uniques (n int primary key); insert into uniques values (1)')
  c.exec('insert into uniques values (1)')
end
run_case('reports a syntax error with its place') { |c| c.exec('select a frm b') }
run_case('reports verbose errors') do |c|
  c.set_error_verbosity(PG::PQERRORS_VERBOSE)
  c.set_error_context_visibility(PG::PQSHOW_CONTEXT_ALWAYS)
  c.exec("do $$ begin perform 1 / 0; end $$")
end
run_case('receives notices') do |c|
  notices = []
  c.set_notice_receiver { |result| notices << result.error_field(PG::Result::PG_DIAG_MESSAGE_PRIMARY) }
  c.exec("do $$ begin for n in 1..5 loop raise notice 'notice %', n; end loop; end $$")
  notices
end
run_case('copies in and out') do |c|
  c.exec('create table copied (n int, t text)')
  encoder = PG::TextEncoder::CopyRow.new
  c.copy_data('copy copied from stdin', encoder) { 20_000.times { |n| c.put_copy_data([n.to_s, n.odd? ? nil : "a\tb\n"]) } }
  decoder = PG::TextDecoder::CopyRow.new
  out = []
  c.copy_data('copy (select * from copied order by n limit 3) to stdout', decoder) do
    while (row = c.get_copy_data)
      out << row
    end
  end
  [out, c.exec('select count(*), count(t), sum(n) from copied').values]
end
run_case('stops a copy with an error of its own') do |c|
  c.exec('create table stopped (n int)')
  c.copy_data('copy stopped from stdin') do
    c.put_copy_data("1\n")
    raise 'the source is broken'
  end
end
run_case('leaves a copy before its end') do |c|
  begin
    c.copy_data('copy (select generate_series(1, 100000)) to stdout') { c.get_copy_data }
  rescue PG::NotAllCopyDataRetrieved => e
    refused = e.class.name
  end
  [refused, c.exec('select 1').values]
end
run_case('receives notifications', needs_session: true) do |c|
  c.exec('listen news')
  other = PG.connect(URI_GIVEN)
  3.times { |n| other.exec_params('select pg_notify($1, $2)', ['news', n.to_s]) }
  other.close
  Array.new(3) { received = nil; c.wait_for_notify(10) { |channel, _pid, payload| received = [channel, payload] }; received }
end
run_case('cancels a statement') do |c|
  c.send_query('select pg_sleep(20)')
  sleep 0.3
  cancelled = c.cancel
  begin
    c.get_last_result
  rescue PG::QueryCanceled => e
    [cancelled, describe(e), c.exec('select 1').values]
  end
end
run_case('runs a pipeline') do |c|
  c.enter_pipeline_mode
  100.times { |n| c.send_query_params('select $1::int', [n]) }
  c.pipeline_sync
  values = []
  100.times do
    values << c.get_result.getvalue(0, 0).to_i
    c.get_result
  end
  status = c.get_result.result_status
  c.exit_pipeline_mode
  [values.sum, status == PG::PGRES_PIPELINE_SYNC]
end
run_case('aborts a pipeline at its error') do |c|
  c.enter_pipeline_mode
  [1, 0, 1].each { |n| c.send_query_params("select 1 / #{n}", []) }
  c.pipeline_sync
  statuses = []
  3.times do
    statuses << (begin
      c.get_result.result_status
    rescue PG::Error => e
      e.class.name
    end)
    c.get_result
  end
  statuses << c.get_result.result_status
  c.exit_pipeline_mode
  statuses
end
run_case('reads row by row') do |c|
  c.send_query('select generate_series(1, 30000)')
  c.set_single_row_mode
  sum = 0
  c.get_result.stream_each_row { |row| sum += row[0].to_i }
  sum
end
run_case('returns several results') do |c|
  c.send_query('select 1; select 2, 3; select 1 / 0; select 4')
  results = []
  while (result = c.get_result)
    results << [result.cmd_status, result.values, result.error_message]
  end
  results
end
run_case('has large objects') do |c|
  c.transaction do |t|
    id = t.lo_creat
    file = t.lo_open(id, PG::INV_READ | PG::INV_WRITE)
    t.lo_write(file, 'x' * 300_000)
    t.lo_lseek(file, 299_998, PG::SEEK_SET)
    read = t.lo_read(file, 10)
    t.lo_close(file)
    t.lo_unlink(id)
    read
  end
end
run_case('changes its encoding') do |c|
  c.set_client_encoding('LATIN1')
  [c.get_client_encoding, c.exec("select 'x'").getvalue(0, 0).encoding.to_s, c.parameter_status('client_encoding')]
end
run_case('resets its connection') do |c|
  c.reset
  c.exec('select 1').values
end
run_case('returns a large row') { |c| c.exec("select repeat('x', 9000000)").getvalue(0, 0).length }
run_case('sends a large value') { |c| c.exec_params('select length($1)', ['y' * 9_000_000]).values }
run_case('pings') { |_| PG::Connection.ping(URI_GIVEN) }
