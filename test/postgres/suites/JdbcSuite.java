import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.util.*;
import javax.net.ssl.SSLSocket;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.PGStream;
import org.postgresql.largeobject.LargeObject;
import org.postgresql.largeobject.LargeObjectManager;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/** JDBC: types, prepared statements, batches, transactions, metadata, COPY, notifications, cancellation. */
public class JdbcSuite {
  interface Work {
    Object run(Connection connection) throws Exception;
  }

  static String url;
  static boolean isPooled;

  static Connection connect(String... more) throws SQLException {
    Properties properties = new Properties();
    for (int n = 0; n < more.length; n += 2) properties.setProperty(more[n], more[n + 1]);
    return DriverManager.getConnection(url, properties);
  }

  static void run(String name, Work work, String... more) {
    String line;
    try (Connection connection = connect(more)) {
      line = "\"result\":" + json(work.run(connection));
    } catch (Throwable error) {
      line = "\"error\":" + json(describe(error));
    }
    System.out.println("{\"case\":" + json(name) + "," + line + "}");
  }

  /** A case that needs a session of its own does not run through the pooler, which shares sessions. */
  static void runInSession(String name, Work work, String... more) {
    if (!isPooled) run(name, work, more);
  }

  static List<Object> describe(Throwable error) {
    List<Object> described = new ArrayList<>(List.of(error.getClass().getName(), String.valueOf(error.getMessage())));
    if (error instanceof SQLException) described.add(((SQLException) error).getSQLState());
    if (error instanceof PSQLException && ((PSQLException) error).getServerErrorMessage() != null) {
      ServerErrorMessage of = ((PSQLException) error).getServerErrorMessage();
      described.addAll(Arrays.asList(of.getSeverity(), of.getDetail(), of.getHint(), of.getConstraint(), of.getTable(), of.getPosition(), of.getRoutine()));
    }
    if (error instanceof BatchUpdateException) {
      described.add(ints(((BatchUpdateException) error).getUpdateCounts()));
      described.add(describe(((BatchUpdateException) error).getNextException()));
    }
    return described;
  }

  static List<Integer> ints(int[] values) {
    List<Integer> list = new ArrayList<>();
    for (int value : values) list.add(value);
    return list;
  }

  static String json(Object value) {
    if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
    if (value instanceof byte[]) return json("bytes " + Arrays.toString((byte[]) value));
    if (value instanceof Collection) {
      StringJoiner joined = new StringJoiner(",", "[", "]");
      for (Object one : (Collection<?>) value) joined.add(json(one));
      return joined.toString();
    }
    StringBuilder text = new StringBuilder("\"");
    for (char c : value.toString().toCharArray())
      if (c == '"' || c == '\\' || c < ' ' || c > '~') text.append(String.format("\\u%04x", (int) c));
      else text.append(c);
    return text.append('"').toString();
  }

  static List<Object> rows(ResultSet results) throws SQLException {
    List<Object> all = new ArrayList<>();
    int columns = results.getMetaData().getColumnCount();
    while (results.next()) {
      List<Object> row = new ArrayList<>();
      for (int n = 1; n <= columns; n += 1) {
        Object value = results.getObject(n);
        row.add(value instanceof Array || value instanceof Timestamp ? value.toString() : value);
      }
      all.add(row);
    }
    return all;
  }

  /** Without the last column of functions, which has an object id. */
  static List<Object> names(ResultSet functions) throws SQLException {
    List<Object> all = new ArrayList<>();
    while (functions.next()) all.add(functions.getString("FUNCTION_NAME"));
    return all;
  }

  /** The driver has no call for it, so this reads the socket of its executor. */
  static boolean usesTls(Connection connection) throws Exception {
    Object executor = connection.unwrap(BaseConnection.class).getQueryExecutor();
    Field stream = executor.getClass().getSuperclass().getDeclaredField("pgStream");
    stream.setAccessible(true);
    return ((PGStream) stream.get(executor)).getSocket() instanceof SSLSocket;
  }

  static List<Object> query(Connection connection, String statement) throws SQLException {
    try (Statement s = connection.createStatement(); ResultSet results = s.executeQuery(statement)) {
      return rows(results);
    }
  }

  static int execute(Connection connection, String statement) throws SQLException {
    try (Statement s = connection.createStatement()) {
      return s.execute(statement) ? -1 : s.getUpdateCount();
    }
  }

  public static void main(String[] args) throws Exception {
    url = args[0];
    isPooled = args[1].equals("pooled");
    TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
    sessions();
    statements();
    transactions();
    copies();
    metadata();
  }

  static void sessions() {
    run("uses TLS", JdbcSuite::usesTls);
    run("knows the server", c -> {
      DatabaseMetaData m = c.getMetaData();
      return List.of(m.getDatabaseProductVersion(), m.getDriverVersion(), m.getUserName(), m.getMaxConnections(), m.getDefaultTransactionIsolation(), c.getCatalog(), c.getSchema());
    });
    // Through PgBouncer, too, a parameter is what the client has set, and not what Postgres makes of it.
    runInSession("reports parameters", c -> new TreeMap<>(c.unwrap(PGConnection.class).getParameterStatuses()).entrySet());
    run("has a name", c -> query(c, "show application_name"), "ApplicationName", "of the driver");
    runInSession("has a schema of its own", c -> query(c, "show search_path"), "currentSchema", "pg_catalog,public");
    runInSession("sets its schema", c -> {
      execute(c, "create schema other");
      c.setSchema("other");
      return List.of(c.getSchema(), query(c, "show search_path"));
    });
    run("is valid", c -> c.isValid(5));
    // It sets the session's characteristics, which stay in a shared session.
    runInSession("is read only", c -> execute(c, "create table never (n int)"), "readOnly", "true", "readOnlyMode", "always");
    run("collects warnings", c -> {
      List<Object> warnings = new ArrayList<>();
      try (Statement s = c.createStatement()) {
        s.execute("do $$ begin raise notice 'a' using hint = 'b'; raise warning 'c'; end $$");
        for (SQLWarning w = s.getWarnings(); w != null; w = w.getNextWarning()) warnings.add(w.getMessage() + w.getSQLState());
      }
      return warnings;
    });
    runInSession("receives notifications", c -> {
      execute(c, "listen news");
      try (Connection other = connect()) {
        for (int n = 0; n < 3; n += 1) execute(other, "notify news, '" + n + "'");
      }
      List<Object> received = new ArrayList<>();
      while (received.size() < 3)
        for (PGNotification one : c.unwrap(PGConnection.class).getNotifications(10_000)) received.add(one.getName() + one.getParameter());
      return received;
    });
    run("cancels a statement", c -> {
      try (Statement s = c.createStatement()) {
        Timer timer = new Timer(true);
        timer.schedule(new TimerTask() {
          @Override public void run() {
            try {
              s.cancel();
            } catch (SQLException error) {
              throw new IllegalStateException(error);
            }
          }
        }, 300);
        return s.executeQuery("select pg_sleep(20)");
      }
    });
    run("ends a statement after its timeout", c -> {
      try (Statement s = c.createStatement()) {
        s.setQueryTimeout(1);
        return s.executeQuery("select pg_sleep(20)");
      }
    });
    run("reaches no unknown database", c -> {
      try {
        return DriverManager.getConnection(url.replace("/suite?", "/nowhere?"));
      } catch (SQLException error) {
        // Without the place in the source of Postgres, which only Postgres itself reports.
        return List.of(error.getMessage(), error.getSQLState());
      }
    });
  }

  static void statements() {
    String[][] typed = {{"int8", "9007199254740993"}, {"numeric", "1.50"}, {"float8", "0.1"}, {"bool", "true"}, {"text", "a'\\\u2603"}, {"bytea", "\\x00ff"}, {"date", "2026-02-28"}, {"timestamptz", "2026-02-28 12:00:00.123456+02"}, {"interval", "1 day 02:03"}, {"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}, {"jsonb", "{\"a\": 1}"}, {"int[]", "{1,NULL,3}"}, {"text[]", "{a,\"b,c\"}"}, {"int4range", "[1,5)"}, {"money", "12.34"}, {"inet", "10.0.0.1"}, {"point", "(1,2)"}};
    for (String threshold : List.of("1", "-1"))
      run("reads types with prepareThreshold " + threshold, c -> {
        List<Object> read = new ArrayList<>();
        for (String[] one : typed)
          try (PreparedStatement p = c.prepareStatement("select ?::text::" + one[0])) {
            p.setString(1, one[1]);
            read.add(rows(p.executeQuery()));
            ResultSetMetaData m = p.getMetaData();
            read.add(m.getColumnTypeName(1) + m.getColumnClassName(1));
          }
        return read;
      }, "prepareThreshold", threshold);
    for (String mode : List.of("simple", "extended", "extendedForPrepared", "extendedCacheEverything"))
      run("binds parameters in query mode " + mode, c -> {
        try (PreparedStatement p = c.prepareStatement("select ?, ?, ?, ?::int[]")) {
          List<Object> seen = new ArrayList<>();
          for (int n = 0; n < 8; n += 1) {
            p.setInt(1, n);
            p.setBigDecimal(2, new BigDecimal("1.10"));
            p.setTimestamp(3, Timestamp.valueOf("2026-01-02 03:04:05"));
            p.setArray(4, c.createArrayOf("int4", new Object[] {n, null}));
            seen.add(rows(p.executeQuery()));
          }
          return seen;
        }
      }, "preferQueryMode", mode);
    run("keeps few statements", c -> {
      List<Object> seen = new ArrayList<>();
      for (int n = 0; n < 60; n += 1)
        try (PreparedStatement p = c.prepareStatement("select " + n + " + ?")) {
          p.setInt(1, 1);
          seen.add(rows(p.executeQuery()));
        }
      return seen;
    }, "prepareThreshold", "1", "preparedStatementCacheQueries", "3");
    // PgBouncer has one statement of the server for all of this text, too, so preparing it again changes nothing.
    runInSession("prepares again after a table changed", c -> {
      execute(c, "create table changed (a int); insert into changed values (1)");
      List<Object> seen = new ArrayList<>();
      try (PreparedStatement p = c.prepareStatement("select * from changed")) {
        for (String change : List.of("select 1", "alter table changed add b int default 5", "alter table changed drop a")) {
          execute(c, change);
          seen.add(rows(p.executeQuery()));
        }
      }
      return seen;
    }, "prepareThreshold", "1");
    run("adds a batch", c -> {
      execute(c, "create table batched (id serial primary key, n int)");
      try (PreparedStatement p = c.prepareStatement("insert into batched (n) values (?)", Statement.RETURN_GENERATED_KEYS)) {
        for (int n = 0; n < 500; n += 1) {
          p.setInt(1, n);
          p.addBatch();
        }
        int[] counts = p.executeBatch();
        return List.of(counts.length, rows(p.getGeneratedKeys()).size(), query(c, "select count(*), sum(n) from batched"));
      }
    });
    run("rewrites a batch", c -> {
      execute(c, "create table rewritten (n int, t text)");
      try (PreparedStatement p = c.prepareStatement("insert into rewritten values (?, ?)")) {
        for (int n = 0; n < 3000; n += 1) {
          p.setInt(1, n);
          p.setString(2, "x".repeat(200));
          p.addBatch();
        }
        return List.of(p.executeBatch().length, query(c, "select count(*), sum(n) from rewritten"));
      }
    }, "reWriteBatchedInserts", "true");
    run("says which statement of a batch failed", c -> {
      execute(c, "create table failing (n int primary key)");
      try (Statement s = c.createStatement()) {
        for (int n : new int[] {1, 2, 1, 3}) s.addBatch("insert into failing values (" + n + ")");
        return ints(s.executeBatch());
      }
    });
    run("reads several results", c -> {
      List<Object> results = new ArrayList<>();
      try (Statement s = c.createStatement()) {
        boolean isResult = s.execute("select 1; create table several (n int); insert into several values (1), (2); select 2, 3");
        while (isResult || s.getUpdateCount() != -1) {
          results.add(isResult ? rows(s.getResultSet()) : s.getUpdateCount());
          isResult = s.getMoreResults();
        }
      }
      return results;
    });
    run("calls a function and a procedure", c -> {
      execute(c, "create function twice(n int) returns int language sql as 'select n * 2'; create procedure bump(inout n int) language plpgsql as $$ begin n := n + 1; commit; end $$");
      try (CallableStatement f = c.prepareCall("{? = call twice(?)}"); CallableStatement p = c.prepareCall("call bump(?)")) {
        f.registerOutParameter(1, Types.INTEGER);
        f.setInt(2, 21);
        f.execute();
        p.setInt(1, 1);
        p.registerOutParameter(1, Types.INTEGER);
        p.execute();
        return List.of(f.getInt(1), p.getInt(1));
      }
    }, "escapeSyntaxCallMode", "callIfNoReturn");
    run("updates rows of a result", c -> {
      execute(c, "create table updated (id int primary key, t text); insert into updated values (1, 'a'), (2, 'b')");
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE); ResultSet r = s.executeQuery("select * from updated order by id")) {
        r.absolute(2);
        r.updateString("t", "changed");
        r.updateRow();
        r.moveToInsertRow();
        r.updateInt("id", 3);
        r.insertRow();
      }
      return query(c, "select * from updated order by id");
    });
    run("reads a large row", c -> ((String) ((List<?>) query(c, "select repeat('x', 9000000)").get(0)).get(0)).length());
    run("has no operator for a type", c -> query(c, "select 1 + 'a'::text"));
  }

  static void transactions() {
    run("commits and rolls back", c -> {
      execute(c, "create table accounts (id int primary key, amount int constraint enough check (amount >= 0))");
      c.setAutoCommit(false);
      execute(c, "insert into accounts values (1, 100)");
      c.commit();
      execute(c, "update accounts set amount = 7");
      List<Object> refused = null;
      try {
        execute(c, "update accounts set amount = -1");
      } catch (SQLException error) {
        refused = describe(error);
      }
      c.rollback();
      return List.of(refused, query(c, "select * from accounts"));
    });
    run("has savepoints", c -> {
      c.setAutoCommit(false);
      execute(c, "create table saved (n int)");
      Savepoint named = c.setSavepoint("named");
      execute(c, "insert into saved values (1)");
      c.rollback(named);
      execute(c, "insert into saved values (2)");
      c.releaseSavepoint(c.setSavepoint());
      c.commit();
      return query(c, "select * from saved");
    });
    run("saves automatically", c -> {
      c.setAutoCommit(false);
      try {
        execute(c, "select 1 / 0");
      } catch (SQLException error) {
        return query(c, "select 'still works'");
      }
      return "no error";
    }, "autosave", "always");
    for (int level : new int[] {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
      runInSession("has isolation level " + level, c -> {
        c.setTransactionIsolation(level);
        c.setAutoCommit(false);
        return List.of(c.getTransactionIsolation(), query(c, "show transaction_isolation"));
      });
    run("reads with a cursor", c -> {
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.setFetchSize(100);
        ResultSet r = s.executeQuery("select n, repeat('x', 50) from generate_series(1, 5000) n");
        long sum = 0;
        while (r.next()) sum += r.getInt(1);
        return sum;
      }
    });
    run("stops at its limit of rows", c -> {
      try (Statement s = c.createStatement()) {
        s.setMaxRows(7);
        return rows(s.executeQuery("select generate_series(1, 1000)"));
      }
    });
    run("has large objects", c -> {
      c.setAutoCommit(false);
      LargeObjectManager manager = c.unwrap(PGConnection.class).getLargeObjectAPI();
      long id = manager.createLO();
      try (LargeObject made = manager.open(id, LargeObjectManager.READWRITE)) {
        made.write(new byte[400_000]);
        made.seek(399_990);
        return List.of(made.read(100).length, made.tell());
      } finally {
        manager.delete(id);
      }
    });
  }

  static void copies() {
    run("copies in and out", c -> {
      execute(c, "create table copied (n int, t text)");
      CopyManager manager = c.unwrap(PGConnection.class).getCopyAPI();
      StringBuilder lines = new StringBuilder();
      for (int n = 0; n < 20_000; n += 1) lines.append(n).append("\tline ").append(n).append('\n');
      long copied = manager.copyIn("copy copied from stdin", new StringReader(lines.toString()));
      StringWriter out = new StringWriter();
      long read = manager.copyOut("copy (select * from copied order by n) to stdout", out);
      return List.of(copied, read, out.toString().contentEquals(lines));
    });
    run("copies binary", c -> {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      CopyManager manager = c.unwrap(PGConnection.class).getCopyAPI();
      manager.copyOut("copy (select 1, 'a') to stdout (format binary)", out);
      execute(c, "create table binary_rows (n int, t text)");
      manager.copyIn("copy binary_rows from stdin (format binary)", new ByteArrayInputStream(out.toByteArray()));
      return List.of(out.toByteArray(), query(c, "select * from binary_rows"));
    });
    run("reports the line of a failed copy", c -> {
      execute(c, "create table failed (n int)");
      return c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy failed from stdin", new StringReader("1\nx\n"));
    });
    run("cancels a copy", c -> {
      execute(c, "create table cancelled (n int)");
      var copy = c.unwrap(PGConnection.class).getCopyAPI().copyIn("copy cancelled from stdin");
      copy.writeToCopy("1\n".getBytes(StandardCharsets.UTF_8), 0, 2);
      copy.cancelCopy();
      return query(c, "select count(*) from cancelled");
    });
  }

  static void metadata() {
    run("describes a schema", c -> {
      execute(c, "create schema described; create table described.parents (id int primary key, name varchar(40) not null default 'n', unique (name)); create table described.children (id bigserial primary key, parent int references described.parents on delete cascade); create view described.names as select name from described.parents; comment on table described.parents is 'All parents'; create type described.mood as enum ('sad', 'ok')");
      DatabaseMetaData m = c.getMetaData();
      return List.of(
          rows(m.getTables(null, "described", "%", null)), rows(m.getColumns(null, "described", "%", "%")),
          rows(m.getPrimaryKeys(null, "described", "children")), rows(m.getImportedKeys(null, "described", "children")),
          rows(m.getExportedKeys(null, "described", "parents")), rows(m.getIndexInfo(null, "described", "parents", false, false)),
          rows(m.getTablePrivileges(null, "described", "parents")), rows(m.getUDTs(null, "described", "%", null)));
    });
    run("lists schemas, catalogs, types and functions", c -> {
      DatabaseMetaData m = c.getMetaData();
      return List.of(rows(m.getSchemas(null, "p%c%")), rows(m.getCatalogs()), rows(m.getTableTypes()), rows(m.getTypeInfo()).size() > 100, names(m.getFunctions(null, "public", "%")));
    });
  }
}
