// Go's pgx: its types, each way to send a query, batches, COPY, large objects, pools, notifications, cancellation, errors.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgconn/stmtcache"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
	_ "github.com/jackc/pgx/v4/stdlib"
)

type work = func(c *pgx.Conn) (interface{}, error)

var ctx = context.Background()

func describe(err error) interface{} {
	// The address and the place in the source of Go are not compared.
	described := map[string]interface{}{"type": fmt.Sprintf("%T", err), "message": err.Error()}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		for name, value := range map[string]interface{}{
			"severity": refused.Severity, "sqlstate": refused.Code, "detail": refused.Detail, "hint": refused.Hint,
			"position": refused.Position, "where": refused.Where, "schema": refused.SchemaName, "table": refused.TableName,
			"column": refused.ColumnName, "type of data": refused.DataTypeName, "constraint": refused.ConstraintName,
			"routine": refused.Routine,
		} {
			described[name] = value
		}
	}
	return described
}

func with(change func(*pgx.ConnConfig), needsSession bool, name string, do work) {
	report(name, needsSession, func() (interface{}, error) {
		config, err := pgx.ParseConfig(uri)
		must(err)
		change(config)
		connection, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		defer connection.Close(ctx)
		return do(connection)
	}, describe)
}

func unchanged(*pgx.ConnConfig) {}

func simple(c *pgx.ConnConfig) { c.PreferSimpleProtocol = true }

func describing(c *pgx.ConnConfig) {
	c.BuildStatementCache = func(connection *pgconn.PgConn) stmtcache.Cache {
		return stmtcache.New(connection, stmtcache.ModeDescribe, 512)
	}
}

func uncached(c *pgx.ConnConfig) { c.BuildStatementCache = nil }

func run(name string, do work)          { with(unchanged, false, name, do) }
func runInSession(name string, do work) { with(unchanged, true, name, do) }

func rows(r pgx.Rows, err error) (list, error) {
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all := list{}
	for r.Next() {
		values, err := r.Values()
		if err != nil {
			return nil, err
		}
		all = append(all, list(values))
	}
	return all, r.Err()
}

func execute(c *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	run("uses TLS", func(c *pgx.Conn) (interface{}, error) {
		_, encrypted := c.PgConn().Conn().(*tls.Conn)
		return encrypted, nil
	})
	queries()
	batches()
	transactions()
	copies()
	sessions()
	failures()
}

const everyType = `select 1::int2, 2::int4, 3::int8, 1.5::float4, 2.5::float8, 1.25::numeric, true, 'x'::text, 'y'::varchar,
	'z'::char(3), '\x00ff'::bytea, '2026-01-02'::date, '2026-01-02 03:04:05.678901+00'::timestamptz, '2026-01-02 03:04:05'::timestamp,
	'1 day 2 hours'::interval, '{"a": 1}'::jsonb, '{1,null,3}'::int[], '9a3b0b5e-5d0a-4b5e-8c1e-0a6f3f0f7b11'::uuid,
	'10.0.0.0/8'::cidr, null::text, '[1,5)'::int4range, '(1,2)'::point, 17::oid`

func queries() {
	for name, change := range map[string]func(*pgx.ConnConfig){
		"with prepared statements": unchanged, "with described statements": describing, "without a cache": uncached,
		"with the simple protocol": simple,
	} {
		with(change, false, "reads each type "+name, func(c *pgx.Conn) (interface{}, error) {
			return rows(c.Query(ctx, everyType))
		})
		with(change, false, "sends parameters "+name, func(c *pgx.Conn) (interface{}, error) {
			all := list{}
			for n := 0; n < 10; n++ {
				got, err := rows(c.Query(ctx, "select $1::int * 2, $2::text, $3::bytea, $4::timestamptz, $5::text[], $6::float8, $7::bool, $8::text",
					n, "é'\\", []byte{0, 255}, time.Unix(1767323045, 0), []string{"a", `b"`}, 1.5, true, nil))
				if err != nil {
					return nil, err
				}
				all = append(all, got)
			}
			return all, nil
		})
		with(change, false, "works after an error "+name, func(c *pgx.Conn) (interface{}, error) {
			_, refused := rows(c.Query(ctx, "select 1 / $1::int", 0))
			works, err := rows(c.Query(ctx, "select 1 / $1::int", 1))
			if refused == nil {
				return nil, errors.New("no error")
			}
			return list{describe(refused), works}, err
		})
	}
	run("describes a statement", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table described (id serial primary key, name varchar(40), price numeric(10, 2))"); err != nil {
			return nil, err
		}
		statement, err := c.Prepare(ctx, "described", "select id, name, price from described where id = $1 and name = $2")
		if err != nil {
			return nil, err
		}
		fields := list{}
		for _, f := range statement.Fields {
			fields = append(fields, list{string(f.Name), fmt.Sprint(f.DataTypeOID), f.DataTypeSize, f.TypeModifier, fmt.Sprint(f.TableAttributeNumber)})
		}
		return list{fmt.Sprint(statement.ParamOIDs), fields}, nil
	})
	run("executes a named statement", func(c *pgx.Conn) (interface{}, error) {
		if _, err := c.Prepare(ctx, "doubles", "select $1::int * 2"); err != nil {
			return nil, err
		}
		all := list{}
		for n := 0; n < 20; n++ {
			got, err := rows(c.Query(ctx, "doubles", n))
			if err != nil {
				return nil, err
			}
			all = append(all, got)
		}
		return all, nil
	})
	run("reads several results", func(c *pgx.Conn) (interface{}, error) {
		results, err := c.PgConn().Exec(ctx, "select 1; create table several (n int); insert into several values (1), (2); select 2, 'b'").ReadAll()
		seen := list{}
		for _, result := range results {
			seen = append(seen, list{result.CommandTag.String(), len(result.Rows)})
		}
		return seen, err
	})
	run("fails in the middle of several statements", func(c *pgx.Conn) (interface{}, error) {
		_, err := c.PgConn().Exec(ctx, "create table halfway (n int); select 1 / 0; select 2").ReadAll()
		there, after := rows(c.Query(ctx, "select to_regclass('halfway')::text"))
		return list{describe(err), there}, after
	})
	run("reads many rows and a large one", func(c *pgx.Conn) (interface{}, error) {
		all, err := rows(c.Query(ctx, "select n, repeat('x', 100) from generate_series(1, 50000) n"))
		if err != nil {
			return nil, err
		}
		var large string
		err = c.QueryRow(ctx, "select repeat('y', 9000000)").Scan(&large)
		return list{len(all), len(large)}, err
	})
	run("sends a large parameter", func(c *pgx.Conn) (interface{}, error) {
		return rows(c.Query(ctx, "select length($1::text), length($2::bytea)", strings.Repeat("é", 3_000_000), make([]byte, 5_000_000)))
	})
	run("stops reading before the end", func(c *pgx.Conn) (interface{}, error) {
		r, err := c.Query(ctx, "select generate_series(1, 200000)")
		if err != nil {
			return nil, err
		}
		r.Next()
		r.Close()
		return rows(c.Query(ctx, "select 'still works'"))
	})
	report("is a driver of database/sql", false, func() (interface{}, error) {
		db, err := sql.Open("pgx", uri)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		var n int
		var text string
		err = db.QueryRow("select $1::int + 1, $2::text", 41, "a").Scan(&n, &text)
		return list{n, text}, err
	}, describe)
}

func batches() {
	for name, change := range map[string]func(*pgx.ConnConfig){"with prepared statements": unchanged, "without a cache": uncached, "with the simple protocol": simple} {
		with(change, false, "sends a batch "+name, func(c *pgx.Conn) (interface{}, error) {
			batch := &pgx.Batch{}
			for n := 0; n < 100; n++ {
				batch.Queue("select $1::int * 2", n)
			}
			results := c.SendBatch(ctx, batch)
			sum := 0
			for n := 0; n < 100; n++ {
				var got int
				if err := results.QueryRow().Scan(&got); err != nil {
					return nil, err
				}
				sum += got
			}
			return sum, results.Close()
		})
	}
	run("says which statement of a batch failed", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table failing (n int primary key)"); err != nil {
			return nil, err
		}
		batch := &pgx.Batch{}
		for _, n := range []int{1, 2, 1, 3} {
			batch.Queue("insert into failing values ($1)", n)
		}
		results := c.SendBatch(ctx, batch)
		outcomes := list{}
		for n := 0; n < 4; n++ {
			tag, err := results.Exec()
			if err != nil {
				outcomes = append(outcomes, describe(err))
			} else {
				outcomes = append(outcomes, tag.String())
			}
		}
		results.Close()
		kept, err := rows(c.Query(ctx, "select count(*) from failing"))
		return list{outcomes, kept}, err
	})
}

func transactions() {
	run("commits and rolls back", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table accounts (id int primary key, amount int constraint enough check (amount >= 0))", "insert into accounts values (1, 100)"); err != nil {
			return nil, err
		}
		refused := c.BeginFunc(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "update accounts set amount = $1", 7); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "update accounts set amount = -1")
			return err
		})
		status := string(c.PgConn().TxStatus())
		kept, err := rows(c.Query(ctx, "select * from accounts"))
		return list{describe(refused), status, kept}, err
	})
	run("has transactions in transactions", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table nested (n int)"); err != nil {
			return nil, err
		}
		err := c.BeginFunc(ctx, func(tx pgx.Tx) error {
			failed := tx.BeginFunc(ctx, func(inner pgx.Tx) error {
				_, err := inner.Exec(ctx, "insert into nested select 1 / 0")
				return err
			})
			if failed == nil {
				return errors.New("no error")
			}
			_, err := tx.Exec(ctx, "insert into nested values (2)")
			return err
		})
		if err != nil {
			return nil, err
		}
		return rows(c.Query(ctx, "select * from nested"))
	})
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		level := level
		run("has isolation level "+string(level), func(c *pgx.Conn) (interface{}, error) {
			tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: level, AccessMode: pgx.ReadOnly, DeferrableMode: pgx.Deferrable})
			if err != nil {
				return nil, err
			}
			defer tx.Rollback(ctx)
			return rows(tx.Query(ctx, "select current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('transaction_deferrable')"))
		})
	}
	run("has large objects", func(c *pgx.Conn) (interface{}, error) {
		tx, err := c.Begin(ctx)
		if err != nil {
			return nil, err
		}
		defer tx.Rollback(ctx)
		objects := tx.LargeObjects()
		oid, err := objects.Create(ctx, 0)
		if err != nil {
			return nil, err
		}
		object, err := objects.Open(ctx, oid, pgx.LargeObjectModeRead|pgx.LargeObjectModeWrite)
		if err != nil {
			return nil, err
		}
		if _, err := object.Write(make([]byte, 400_000)); err != nil {
			return nil, err
		}
		if err := object.Truncate(300_000); err != nil {
			return nil, err
		}
		end, err := object.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		return list{end, objects.Unlink(ctx, oid) == nil}, nil
	})
}

func copies() {
	run("copies rows in", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table copied (n int, t text, at timestamptz)"); err != nil {
			return nil, err
		}
		source := make([][]interface{}, 20000)
		for n := range source {
			source[n] = []interface{}{n, "tab\tline\n", time.Unix(int64(n), 0)}
		}
		count, err := c.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"n", "t", "at"}, pgx.CopyFromRows(source))
		if err != nil {
			return nil, err
		}
		read, err := rows(c.Query(ctx, "select count(*), sum(n), max(at) from copied"))
		return list{count, read}, err
	})
	run("copies text out and in", func(c *pgx.Conn) (interface{}, error) {
		out := &bytes.Buffer{}
		tag, err := c.PgConn().CopyTo(ctx, out, "copy (select n, 'row ' || n from generate_series(1, 5000) n) to stdout")
		if err != nil {
			return nil, err
		}
		if err := execute(c, "create table returned (n int, t text)"); err != nil {
			return nil, err
		}
		size := out.Len()
		back, err := c.PgConn().CopyFrom(ctx, out, "copy returned from stdin")
		return list{tag.String(), size, back.String()}, err
	})
	run("stops a copy with an error of its own", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table stopped (n int)"); err != nil {
			return nil, err
		}
		sent := 0
		_, refused := c.CopyFrom(ctx, pgx.Identifier{"stopped"}, []string{"n"}, pgx.CopyFromSlice(100, func(n int) ([]interface{}, error) {
			sent++
			if n == 50 {
				return nil, errors.New("the source is broken")
			}
			return []interface{}{n}, nil
		}))
		kept, err := rows(c.Query(ctx, "select count(*) from stopped"))
		return list{describe(refused), sent, kept}, err
	})
	run("reports the line of a failed copy", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "create table failed (n int)"); err != nil {
			return nil, err
		}
		_, err := c.PgConn().CopyFrom(ctx, strings.NewReader("1\nx\n"), "copy failed from stdin")
		return nil, err
	})
}

func sessions() {
	runInSession("receives notifications", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "listen news"); err != nil {
			return nil, err
		}
		other, err := pgx.Connect(ctx, uri)
		if err != nil {
			return nil, err
		}
		defer other.Close(ctx)
		received := list{}
		for n := 0; n < 3; n++ {
			if _, err := other.Exec(ctx, "select pg_notify('news', $1)", fmt.Sprint(n)); err != nil {
				return nil, err
			}
			limited, cancel := context.WithTimeout(ctx, 20*time.Second)
			notification, err := c.WaitForNotification(limited)
			cancel()
			if err != nil {
				return nil, err
			}
			received = append(received, list{notification.Channel, notification.Payload})
		}
		return received, nil
	})
	report("receives notices", false, func() (interface{}, error) {
		config, err := pgx.ParseConfig(uri)
		must(err)
		notices := list{}
		config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
			notices = append(notices, notice.Severity+" "+notice.Message)
		}
		c, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		defer c.Close(ctx)
		err = execute(c, "do $$ begin for n in 1..5 loop raise notice 'notice %', n; end loop; end $$", "drop table if exists nowhere")
		return notices, err
	}, describe)
	runInSession("keeps a setting of its session", func(c *pgx.Conn) (interface{}, error) {
		if err := execute(c, "set statement_timeout = '12s'", "create temporary table own (n int)", "insert into own values (1)"); err != nil {
			return nil, err
		}
		return rows(c.Query(ctx, "select current_setting('statement_timeout'), n from own"))
	})
	run("knows the parameters of its server", func(c *pgx.Conn) (interface{}, error) {
		seen := list{}
		for _, name := range []string{"server_version", "client_encoding", "integer_datetimes", "standard_conforming_strings", "TimeZone"} {
			seen = append(seen, c.PgConn().ParameterStatus(name))
		}
		return seen, nil
	})
	run("cancels a statement", func(c *pgx.Conn) (interface{}, error) {
		finished := make(chan error, 1)
		go func() {
			_, err := c.Exec(ctx, "select pg_sleep(20)")
			finished <- err
		}()
		time.Sleep(500 * time.Millisecond)
		if err := c.PgConn().CancelRequest(ctx); err != nil {
			return nil, err
		}
		refused := <-finished
		works, err := rows(c.Query(ctx, "select 1"))
		if refused == nil {
			return nil, errors.New("no error")
		}
		return list{describe(refused), works}, err
	})
	run("gives up a statement at its deadline", func(c *pgx.Conn) (interface{}, error) {
		limited, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, err := c.Exec(limited, "select pg_sleep(20)")
		return list{errors.Is(err, context.DeadlineExceeded), c.IsClosed()}, nil
	})
	report("has a pool of connections", false, func() (interface{}, error) {
		config, err := pgxpool.ParseConfig(uri)
		must(err)
		config.MaxConns = 8
		pool, err := pgxpool.ConnectConfig(ctx, config)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		results := make(chan error, 64)
		for n := 0; n < 64; n++ {
			go func(n int) {
				var got int
				err := pool.QueryRow(ctx, "select $1::int", n).Scan(&got)
				if err == nil && got != n {
					err = fmt.Errorf("%d was answered with %d", n, got)
				}
				results <- err
			}(n)
		}
		for n := 0; n < 64; n++ {
			if err := <-results; err != nil {
				return nil, err
			}
		}
		return "64 answers", nil
	}, describe)
}

func failures() {
	for name, statement := range map[string]string{
		"reports a syntax error with its place": "select a frm b",
		"reports an unknown table":              "select * from nowhere",
		"reports a division by zero":            "do $$ begin perform 1 / 0; end $$",
		"has no operator for a type":            "select 1 + 'a'::text",
		"reports a duplicate":                   "create table uniques (n int primary key); insert into uniques values (1), (1)",
	} {
		statement := statement
		run(name, func(c *pgx.Conn) (interface{}, error) { return nil, execute(c, statement) })
	}
	run("reports a column that is null", func(c *pgx.Conn) (interface{}, error) {
		return nil, execute(c, "create table required (n int not null); insert into required values (null)")
	})
	run("counts parameters", func(c *pgx.Conn) (interface{}, error) { return rows(c.Query(ctx, "select $1::int", 1, 2)) })
	report("rejects an unknown database", false, func() (interface{}, error) {
		_, err := pgx.Connect(ctx, strings.Replace(uri, "/suite?", "/nowhere?", 1))
		var refused *pgconn.PgError
		if !errors.As(err, &refused) {
			return nil, err
		}
		return list{refused.Code, refused.Severity, refused.Message}, nil
	}, describe)
}
