# ActiveRecord: migrations with their advisory lock, the schema dumped and loaded, records, transactions, prepared statements.
require 'active_record'
require 'json'
require 'stringio'
require 'tmpdir'

URI_GIVEN, MODE = ARGV
DIRECTORY = Dir.mktmpdir
at_exit { FileUtils.rm_rf(DIRECTORY) }
ActiveRecord::Migration.verbose = false
ActiveRecord::Base.establish_connection(URI_GIVEN)

def connection
  ActiveRecord::Base.connection
end

def run_case(name, needs_session: false)
  return if needs_session && MODE == 'pooled'

  begin
    outcome = { result: yield }
  rescue StandardError => e
    outcome = { error: describe(e) }
  end
  puts JSON.generate({ case: name, **outcome })
  $stdout.flush
end

def describe(error)
  { type: error.class.name, message: error.message, cause: error.cause&.class&.name }
end

def write(name, body, before = '')
  number = Dir.children(DIRECTORY).length + 1
  source = "class #{name} < ActiveRecord::Migration[6.1]\n#{before}\n#{body}\nend\n"
  File.write("#{DIRECTORY}/#{number}_#{name.gsub(/(?<!^)([A-Z])/, '_\1').downcase}.rb", source)
end

def migrations
  ActiveRecord::MigrationContext.new(DIRECTORY, ActiveRecord::SchemaMigration)
end

def dumped
  out = StringIO.new
  ActiveRecord::SchemaDumper.dump(connection, out)
  out.string
end

class Customer < ActiveRecord::Base
  has_many :orders, dependent: :destroy
  validates :name, presence: true
end

class Order < ActiveRecord::Base
  belongs_to :customer
end

run_case('uses TLS') { connection.raw_connection.ssl_in_use? }
run_case('knows the server') do
  [connection.database_version, connection.adapter_name, connection.encoding, connection.collation, connection.prepared_statements,
   connection.supports_advisory_locks?, connection.current_database, connection.schema_search_path, connection.max_identifier_length]
end

write('CreateShop', <<~RUBY)
  def change
    enable_extension 'citext'
    create_table :customers do |t|
      t.citext :name, null: false, index: { unique: true }
      t.timestamps default: '2026-01-01'
    end
    create_table :orders do |t|
      t.references :customer, foreign_key: { on_delete: :cascade }
      t.decimal :total, precision: 10, scale: 2, default: 0
      t.string :tags, array: true, default: []
      t.jsonb :detail, default: {}
      t.uuid :key
      t.int4range :span
      t.binary :content
      t.check_constraint 'total >= 0', name: 'positive_total'
    end
  end
RUBY

run_case('migrates') do
  migrations.migrate
  [migrations.current_version, migrations.migrations_status, migrations.needs_migration?]
end
run_case('dumps the schema') { dumped }
run_case('stores and reads records') do
  3.times do |n|
    Customer.create!(name: "customer #{n}").orders.create!(
      total: BigDecimal('12.50') * n, tags: ['a', "t#{n}"], detail: { n: n, nested: [nil, '☃'] },
      key: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', span: 1...(n + 2), content: "\x00\xff".b
    )
  end
  Order.order(:id).map { |order| order.attributes.transform_values(&:inspect) }
end
run_case('finds records by prepared statements') do
  found = (1..3).map { |id| Customer.find(id).name }
  [found, Customer.find_by(name: 'CUSTOMER 1')&.id, Order.where("tags @> ?", '{t1}').pluck(:id),
   Order.where("detail->>'n' = ?", '2').joins(:customer).pluck('customers.name'), Order.group(:customer_id).sum(:total).transform_values(&:to_s)]
end
run_case('keeps more statements than its pool of statements') do
  (1..1100).sum { |n| connection.select_value("select #{n} + $1", nil, [ActiveRecord::Relation::QueryAttribute.new('n', 1, ActiveRecord::Type::Integer.new)]) }
end
run_case('prepares again after a column was added') do
  connection.add_column :customers, :note, :text, default: 'new'
  notes = Customer.order(:id).map(&:id)
  Customer.reset_column_information
  notes << Customer.order(:id).first.note
  connection.remove_column :customers, :note
  Customer.reset_column_information
  [notes, Customer.find(1).attributes.keys]
end
run_case('inserts and updates many') do
  Order.insert_all((1..3000).map { |n| { customer_id: 1, total: n } })
  Customer.upsert_all([{ name: 'customer 1' }, { name: 'another' }], unique_by: :name)
  sum = 0
  Order.find_each(batch_size: 500) { |order| sum += order.total }
  [sum.to_s, Customer.order(:id).pluck(:id).length, Order.where(total: 1000..).update_all('total = total + 1')]
end
run_case('rolls a savepoint back') do
  refused = nil
  Customer.transaction do
    Customer.create!(name: 'outer')
    begin
      Customer.transaction(requires_new: true) { Customer.create!(name: 'outer') }
    rescue ActiveRecord::RecordNotUnique => e
      refused = describe(e)
    end
  end
  [refused, Customer.where(name: 'outer').count]
end
run_case('rejects what a constraint forbids') { Order.create!(customer_id: 1, total: -1) }
run_case('rejects a key that refers to nothing') { Order.insert({ customer_id: 999, total: 1 }) }
run_case('has isolation levels') do
  %i[read_committed repeatable_read serializable].map do |level|
    Customer.transaction(isolation: level) { connection.select_value('show transaction_isolation') }
  end
end
run_case('locks a record') { Customer.find(1).with_lock { connection.select_value('select 1') } }
run_case('reports a statement that takes too long') do
  Customer.transaction do
    connection.execute('set local statement_timeout = 20')
    connection.execute('select pg_sleep(20)')
  end
end
run_case('has threads with connections of their own') do
  (1..4).map { |n| Thread.new { ActiveRecord::Base.connection_pool.with_connection { |c| c.select_value("select #{n} from pg_sleep(0.05)") } } }.map(&:value)
end
run_case('reconnects') do
  connection.reconnect!
  [connection.active?, Customer.count]
end

write('ChangeShop', <<~RUBY)
  def up
    add_column :customers, :display, :string
    execute "update customers set display = upper(name)"
    change_column_null :customers, :display, false
    change_column :orders, :total, :decimal, precision: 12, scale: 3
    rename_column :orders, :key, :number
    create_enum_type
  end
  def down
    execute 'drop type mood'
    rename_column :orders, :number, :key
    change_column :orders, :total, :decimal, precision: 10, scale: 2
    remove_column :customers, :display
  end
  def create_enum_type = execute("create type mood as enum ('sad', 'ok')")
RUBY
write('IndexOrders', "def change = add_index(:orders, :tags, using: :gin, algorithm: :concurrently)", 'disable_ddl_transaction!')

run_case('migrates to a later release') do
  migrations.migrate
  [migrations.current_version, migrations.migrations_status, dumped]
end
run_case('undoes a migration that fails') do
  write('Broken', "def change\n  add_column :customers, :broken, :integer\n  execute 'insert into orders (total) values (-1)'\nend")
  failed = begin
    migrations.migrate
  rescue StandardError => e
    describe(e).merge(message: e.message.gsub(DIRECTORY, '').lines.first(4).join)
  end
  File.delete("#{DIRECTORY}/4_broken.rb")
  [failed, migrations.current_version, connection.columns('customers').map(&:name)]
end
run_case('lets one process migrate at a time', needs_session: true) do
  other = PG.connect(URI_GIVEN)
  # The lock of ActiveRecord: its salt times the checksum of the name of the database.
  id = 2_053_462_845 * Zlib.crc32(connection.current_database)
  other.exec("select pg_advisory_lock(#{id})")
  begin
    migrations.migrate
  ensure
    other.close
  end
end
run_case('rolls back') do
  migrations.rollback(2)
  middle = [migrations.current_version, dumped]
  migrations.migrate(0)
  [middle, migrations.current_version, connection.tables.sort, connection.select_values("select typname from pg_type where typname = 'mood'")]
end
run_case('migrates again') do
  migrations.migrate
  [migrations.current_version, connection.tables.sort, connection.indexes('orders').map(&:name), connection.foreign_keys('orders').map(&:name)]
end
run_case('loads a dumped schema') do
  schema = dumped
  connection.drop_table(:orders)
  connection.drop_table(:customers)
  ActiveRecord::Migration.suppress_messages { eval(schema, TOPLEVEL_BINDING) }
  dumped == schema
end
run_case('creates and drops a database') do
  connection.create_database('made', encoding: 'utf8', template: 'template0')
  made = connection.select_value("select count(*) from pg_database where datname = 'made'")
  connection.drop_database('made')
  made
end
