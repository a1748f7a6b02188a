// Go's lib/pq with database/sql: types, prepared statements, transactions, COPY, notifications, cancellation, errors.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lib/pq"
)

type work = func(db *sql.DB) (interface{}, error)

func describe(err error) interface{} {
	described := map[string]interface{}{"type": fmt.Sprintf("%T", err), "message": err.Error()}
	var refused *pq.Error
	if errors.As(err, &refused) {
		for name, value := range map[string]string{
			"severity": refused.Severity, "sqlstate": string(refused.Code), "name": refused.Code.Name(),
			"detail": refused.Detail, "hint": refused.Hint, "position": refused.Position, "where": refused.Where,
			"schema": refused.Schema, "table": refused.Table, "column": refused.Column,
			"type of data": refused.DataTypeName, "constraint": refused.Constraint, "routine": refused.Routine,
		} {
			described[name] = value
		}
	}
	return described
}

func open(parameters string) *sql.DB {
	db, err := sql.Open("postgres", uri+parameters)
	must(err)
	db.SetMaxOpenConns(1)
	return db
}

func with(parameters string, needsSession bool, name string, do work) {
	report(name, needsSession, func() (interface{}, error) {
		db := open(parameters)
		defer db.Close()
		return do(db)
	}, describe)
}

func run(name string, do work)          { with("", false, name, do) }
func runInSession(name string, do work) { with("", true, name, do) }

func rows(r *sql.Rows, err error) (list, error) {
	if err != nil {
		return nil, err
	}
	defer r.Close()
	columns, err := r.ColumnTypes()
	if err != nil {
		return nil, err
	}
	all := list{}
	for r.Next() {
		values, places := make(list, len(columns)), make([]interface{}, len(columns))
		for n := range values {
			places[n] = &values[n]
		}
		if err := r.Scan(places...); err != nil {
			return nil, err
		}
		all = append(all, values)
	}
	return all, r.Err()
}

func execute(db *sql.DB, statements ...string) error {
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// Whether the first message after the request for TLS is one of TLS: the driver does not say it.
type watched struct {
	net.Conn
	encrypted bool
}

func (w *watched) Write(bytes []byte) (int, error) {
	w.encrypted = w.encrypted || (len(bytes) > 2 && bytes[0] == 0x16 && bytes[1] == 3)
	return w.Conn.Write(bytes)
}

type watchingDialer struct{ last *watched }

func (d *watchingDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialTimeout(network, address, time.Minute)
}

func (d *watchingDialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	connection, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	d.last = &watched{Conn: connection}
	return d.last, nil
}

func main() {
	report("uses TLS", false, func() (interface{}, error) {
		dialer := &watchingDialer{}
		connection, err := pq.DialOpen(dialer, uri)
		if err != nil {
			return nil, err
		}
		return dialer.last.encrypted, connection.Close()
	}, describe)
	queries()
	transactions()
	copies()
	sessions()
	failures()
}

const everyType = `select 1::int2, 2::int4, 3::int8, 1.5::float4, 2.5::float8, 1.25::numeric, true, 'x'::text, 'y'::varchar,
	'z'::char(3), '\x00ff'::bytea, '2026-01-02'::date, '03:04:05'::time, '2026-01-02 03:04:05.678901+00'::timestamptz,
	'2026-01-02 03:04:05'::timestamp, '1 day 2 hours'::interval, '{"a": 1}'::jsonb, '{1,null,3}'::int[],
	'9a3b0b5e-5d0a-4b5e-8c1e-0a6f3f0f7b11'::uuid, '10.0.0.0/8'::cidr, null::text, '(1,a)'::record_type, '[1,5)'::int4range`

func queries() {
	run("reads each type", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create type record_type as (n int, t text)"); err != nil {
			return nil, err
		}
		return rows(db.Query(everyType))
	})
	run("reads each type after a description", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query(everyType+" where $1::int = 1", 1))
	})
	with("&binary_parameters=yes", false, "sends binary parameters", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("select $1::int8 + 1, $2::text, $3::bytea, $4::timestamptz", 41, "é", []byte{0, 255}, time.Unix(1767323045, 0)))
	})
	run("sends parameters of each kind", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("select $1::int, $2::text, $3::bytea, $4::bool, $5::float8, $6::timestamptz, $7::text",
			41, "é\x01", []byte{0, 255}, true, 1.5, time.Unix(1767323045, 0), nil))
	})
	run("sends and reads arrays", func(db *sql.DB) (interface{}, error) {
		var numbers pq.Int64Array
		var texts pq.StringArray
		var flags []bool
		err := db.QueryRow("select $1::int8[] || 4::int8, $2::text[], $3::bool[]", pq.Array([]int64{1, 2}),
			pq.Array([]string{"a", `b"c\`, "", "d,e"}), pq.Array([]bool{true, false})).Scan(&numbers, &texts, pq.Array(&flags))
		return list{fmt.Sprint(numbers), fmt.Sprintf("%q", texts), fmt.Sprint(flags)}, err
	})
	run("describes columns", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table described (id serial primary key, name varchar(40), price numeric(10, 2), at timestamptz)"); err != nil {
			return nil, err
		}
		r, err := db.Query("select * from described")
		if err != nil {
			return nil, err
		}
		defer r.Close()
		types, err := r.ColumnTypes()
		described := list{}
		for _, t := range types {
			length, hasLength := t.Length()
			precision, scale, hasPrecision := t.DecimalSize()
			described = append(described, list{t.Name(), t.DatabaseTypeName(), fmt.Sprint(t.ScanType()), length, hasLength, precision, scale, hasPrecision})
		}
		return described, err
	})
	run("reads several results", func(db *sql.DB) (interface{}, error) {
		r, err := db.Query("select 1; select 2, 'b'; create table several (n int); select 3 where false")
		if err != nil {
			return nil, err
		}
		defer r.Close()
		seen := list{}
		for more := true; more; more = r.NextResultSet() {
			columns, err := r.Columns()
			if err != nil {
				return nil, err
			}
			count := 0
			for r.Next() {
				count++
			}
			seen = append(seen, list{strings.Join(columns, ","), count})
		}
		return seen, r.Err()
	})
	run("prepares and executes", func(db *sql.DB) (interface{}, error) {
		statement, err := db.Prepare("select $1::int * 2, $2::text")
		if err != nil {
			return nil, err
		}
		defer statement.Close()
		all := list{}
		for n := 0; n < 20; n++ {
			got, err := rows(statement.Query(n, "a"))
			if err != nil {
				return nil, err
			}
			all = append(all, got)
		}
		return all, nil
	})
	run("counts changed rows", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table counted (n int); insert into counted select generate_series(1, 1000)"); err != nil {
			return nil, err
		}
		result, err := db.Exec("delete from counted where n > $1", 100)
		if err != nil {
			return nil, err
		}
		count, err := result.RowsAffected()
		return count, err
	})
	run("reads many rows and a large one", func(db *sql.DB) (interface{}, error) {
		r, err := rows(db.Query("select n, repeat('x', 100) from generate_series(1, 50000) n"))
		if err != nil {
			return nil, err
		}
		var large string
		err = db.QueryRow("select repeat('y', 9000000)").Scan(&large)
		return list{len(r), len(large)}, err
	})
	run("stops reading before the end", func(db *sql.DB) (interface{}, error) {
		r, err := db.Query("select generate_series(1, 200000)")
		if err != nil {
			return nil, err
		}
		r.Next()
		if err := r.Close(); err != nil {
			return nil, err
		}
		return rows(db.Query("select 'still works'"))
	})
	run("quotes names and literals", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("select " + pq.QuoteLiteral(`it's a \ "text"`) + " as " + pq.QuoteIdentifier(`a "name"`)))
	})
}

func transactions() {
	run("commits and rolls back", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table accounts (id int primary key, amount int constraint enough check (amount >= 0))", "insert into accounts values (1, 100)"); err != nil {
			return nil, err
		}
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		if _, err = tx.Exec("update accounts set amount = $1", 7); err != nil {
			return nil, err
		}
		_, refused := tx.Exec("update accounts set amount = -1")
		_, aborted := tx.Exec("select 1")
		committed := tx.Commit()
		kept, err := rows(db.Query("select * from accounts"))
		return list{describe(refused), describe(aborted), describe(committed), kept}, err
	})
	for _, level := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelSerializable} {
		level := level
		run("has isolation level "+level.String(), func(db *sql.DB) (interface{}, error) {
			tx, err := db.BeginTx(context.Background(), &sql.TxOptions{Isolation: level, ReadOnly: true})
			if err != nil {
				return nil, err
			}
			defer tx.Rollback()
			shown, err := rows(tx.Query("select current_setting('transaction_isolation'), current_setting('transaction_read_only')"))
			if err != nil {
				return nil, err
			}
			_, err = tx.Exec("create table refused (n int)")
			return list{shown, describe(err)}, nil
		})
	}
	run("has savepoints", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table saved (n int)"); err != nil {
			return nil, err
		}
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		for _, statement := range []string{"savepoint a", "insert into saved values (1)", "rollback to a", "insert into saved values (2)"} {
			if _, err := tx.Exec(statement); err != nil {
				return nil, err
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		return rows(db.Query("select * from saved"))
	})
}

func copies() {
	run("copies in", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table copied (n int, t text, b bytea)"); err != nil {
			return nil, err
		}
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		statement, err := tx.Prepare(pq.CopyIn("copied", "n", "t", "b"))
		if err != nil {
			return nil, err
		}
		for n := 0; n < 20000; n++ {
			var text interface{} = "tab\tline\nback\\"
			if n%2 == 1 {
				text = nil
			}
			if _, err := statement.Exec(n, text, []byte{byte(n)}); err != nil {
				return nil, err
			}
		}
		result, err := statement.Exec()
		if err != nil {
			return nil, err
		}
		count, _ := result.RowsAffected()
		if err := statement.Close(); err != nil {
			return nil, err
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		read, err := rows(db.Query("select count(*), count(t), sum(n), min(t), max(b) from copied"))
		return list{count, read}, err
	})
	run("reports the line of a failed copy", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "create table failed (n int)"); err != nil {
			return nil, err
		}
		tx, err := db.Begin()
		if err != nil {
			return nil, err
		}
		defer tx.Rollback()
		statement, err := tx.Prepare(pq.CopyIn("failed", "n"))
		if err != nil {
			return nil, err
		}
		if _, err := statement.Exec("x"); err != nil {
			return nil, err
		}
		_, err = statement.Exec()
		return nil, err
	})
	run("cannot copy out", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("copy (select 1) to stdout"))
	})
}

func sessions() {
	runInSession("receives notifications", func(db *sql.DB) (interface{}, error) {
		listener := pq.NewListener(uri, time.Second, time.Minute, nil)
		defer listener.Close()
		if err := listener.Listen("news"); err != nil {
			return nil, err
		}
		again := listener.Listen("news")
		for n := 0; n < 3; n++ {
			if _, err := db.Exec("select pg_notify('news', $1)", fmt.Sprint(n)); err != nil {
				return nil, err
			}
		}
		received := list{}
		for len(received) < 3 {
			select {
			case notification := <-listener.Notify:
				received = append(received, list{notification.Channel, notification.Extra})
			case <-time.After(20 * time.Second):
				return nil, errors.New("no notification within 20 s")
			}
		}
		return list{again == pq.ErrChannelAlreadyOpen, received, listener.Unlisten("news") == nil, listener.Ping() == nil}, nil
	})
	run("receives notices", func(db *sql.DB) (interface{}, error) {
		connector, err := pq.NewConnector(uri)
		if err != nil {
			return nil, err
		}
		notices := list{}
		noticing := sql.OpenDB(pq.ConnectorWithNoticeHandler(connector, func(notice *pq.Error) { notices = append(notices, notice.Severity+" "+notice.Message) }))
		defer noticing.Close()
		err = execute(noticing, "do $$ begin for n in 1..5 loop raise notice 'notice %', n; end loop; end $$", "drop table if exists nowhere")
		return notices, err
	})
	runInSession("keeps a setting of its session", func(db *sql.DB) (interface{}, error) {
		if err := execute(db, "set statement_timeout = '12s'", "create temporary table own (n int)", "insert into own values (1)"); err != nil {
			return nil, err
		}
		return rows(db.Query("select current_setting('statement_timeout'), n from own"))
	})
	with("&application_name=suite", false, "sends its name at its start", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("select current_setting('application_name')"))
	})
	with("&search_path=pg_catalog", true, "sends settings at its start", func(db *sql.DB) (interface{}, error) {
		return rows(db.Query("select current_setting('search_path'), current_setting('extra_float_digits')"))
	})
	run("has a pool of connections", func(db *sql.DB) (interface{}, error) {
		db.SetMaxOpenConns(8)
		results := make(chan error, 64)
		for n := 0; n < 64; n++ {
			go func(n int) {
				var got int
				tx, err := db.Begin()
				if err == nil {
					err = tx.QueryRow("select $1::int + count(*)::int from pg_class where false", n).Scan(&got)
					if err == nil && got != n {
						err = fmt.Errorf("%d was answered with %d", n, got)
					}
					tx.Rollback()
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
	})
	run("cancels a statement", func(db *sql.DB) (interface{}, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		_, err := db.ExecContext(ctx, "select pg_sleep(20)")
		works, after := rows(db.Query("select 1"))
		return list{describe(err), works}, after
	})
	runInSession("ends another session", func(db *sql.DB) (interface{}, error) {
		other := open("")
		defer other.Close()
		ctx := context.Background()
		victim, err := other.Conn(ctx)
		if err != nil {
			return nil, err
		}
		var pid int
		if err := victim.QueryRowContext(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
			return nil, err
		}
		ended, err := rows(db.Query("select pg_terminate_backend($1, 5000)", pid))
		if err != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
		_, err = victim.ExecContext(ctx, "select 1")
		victim.Close()
		works, after := rows(other.Query("select 'a new connection'"))
		return list{ended, err == driver.ErrBadConn || err != nil, works}, after
	})
}

func failures() {
	for name, statement := range map[string]string{
		"reports a syntax error with its place": "select a frm b",
		"reports an unknown table":              "select * from nowhere",
		"reports a division by zero":            "do $$ begin perform 1 / 0; end $$",
		"has no operator for a type":            "select 1 + 'a'::text",
		"reports a refused program":             "copy (select 1) to program 'true'",
		"reports a duplicate":                   "create table uniques (n int primary key); insert into uniques values (1), (1)",
	} {
		statement := statement
		run(name, func(db *sql.DB) (interface{}, error) { return nil, execute(db, statement) })
	}
	run("counts parameters", func(db *sql.DB) (interface{}, error) { return rows(db.Query("select $1::int", 1, 2)) })
	run("reports a value of another type", func(db *sql.DB) (interface{}, error) { return rows(db.Query("select $1::int", "x")) })
	run("works after an error", func(db *sql.DB) (interface{}, error) {
		for n := 0; n < 10; n++ {
			if _, err := db.Query("select 1 / $1::int", 0); err == nil {
				return nil, errors.New("no error")
			}
		}
		return rows(db.Query("select $1::int", 1))
	})
	run("rejects an unknown database", func(*sql.DB) (interface{}, error) {
		db, err := sql.Open("postgres", strings.Replace(uri, "/suite?", "/nowhere?", 1))
		if err != nil {
			return nil, err
		}
		defer db.Close()
		var refused *pq.Error
		if !errors.As(db.Ping(), &refused) {
			return nil, errors.New("no error of Postgres")
		}
		return list{string(refused.Code), refused.Severity, refused.Message}, nil
	})
}
