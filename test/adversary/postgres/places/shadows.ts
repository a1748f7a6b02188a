import { observe, type Place } from "./place.ts";

/** Keeps a statement from using the shadows that it creates. */
const ALONE = "perform pg_catalog.set_config('search_path', 'pg_catalog', true);";

/**
 * Objects with the names of `pg_catalog`. Those in the schema `shadow` have the same arguments, and are found first
 * by whoever searches that schema first. Those in `public` fit a call better than the original does.
 */
export const SHADOWS: readonly Place[] = [
  {
    name: "functions that shadow those of pg_catalog",
    sql: `do $do$ declare f record; begin
      ${ALONE}
      for f in
        select p.proname, p.proretset, pg_get_function_identity_arguments(p.oid) as arguments,
          pg_get_function_result(p.oid) as result
        from pg_proc p
        where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
          and p.proargmodes is null and p.prorettype <> 'void'::regtype
          and not exists (select from unnest(p.proargtypes || p.prorettype) as a(oid) join pg_type t using (oid)
            where t.typtype = 'p')
          and (p.proname like 'pg\\_%' or p.proname ~ '^(lo_|set_config|current_|quote_|array_|to_|regexp_|string_|left|right|length|lower|upper|replace|coalesce|substr|md5|abs|now|nextval|lastval|has_)')
      loop
        begin
          execute format(
            'create function shadow.%I(%s) returns %s language plpgsql as %L',
            f.proname, f.arguments, f.result,
            format('begin perform adversary.observe(%L); %s end', 'function ' || f.proname || '(' || f.arguments || ')',
              case when f.proretset then 'return;' else 'return null;' end));
        exception when others then null; end;
      end loop;
    end $do$`,
  },
  {
    name: "functions that fit better than those of pg_catalog",
    sql: `do $do$ declare f record; types text[] := '{text,name,oid,regclass,int4,int8,"\\"char\\"",bool}'; one text; two text; begin
      ${ALONE}
      for f in select * from (values ('format'), ('concat'), ('concat_ws'), ('json_build_object'),
          ('json_build_array'), ('num_nulls')) as names (name) loop
        foreach one in array types loop
          execute format('create function public.%I(text, %s) returns text language plpgsql as %L', f.name, one,
            format('begin return adversary.observe(%L)::text; end', f.name || '(text, ' || one || ')'));
          foreach two in array types loop
            execute format('create function public.%I(text, %s, %s) returns text language plpgsql as %L',
              f.name, one, two,
              format('begin return adversary.observe(%L)::text; end', f.name || '(text, ' || one || ', ' || two || ')'));
          end loop;
        end loop;
      end loop;
      for f in select distinct p.proname, replace(pg_get_function_identity_arguments(p.oid), 'text', 'name') as arguments
        from pg_proc p where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind = 'f' and p.provariadic = 0
          and p.proargmodes is null and 'text'::regtype = any (p.proargtypes)
      loop
        begin
          execute format('create function public.%I(%s) returns text language plpgsql as %L', f.proname, f.arguments,
            format('begin return adversary.observe(%L)::text; end', f.proname || '(' || f.arguments || ')'));
        exception when others then null; end;
      end loop;
    end $do$`,
  },
  {
    name: "aggregates that shadow those of pg_catalog",
    sql: `do $do$ declare a record; begin
      ${ALONE}
      for a in select * from (values ('string_agg', 'text, text'), ('string_agg', 'name, text'), ('sum', 'int8'),
          ('sum', 'numeric'), ('sum', 'int4'), ('count', '"any"'), ('max', 'text'), ('min', 'text'), ('max', 'oid'),
          ('bool_or', 'bool'), ('bool_and', 'bool'), ('array_agg', 'text'), ('array_agg', 'name'),
          ('json_agg', 'text')) as list (name, arguments)
      loop
        continue when a.arguments = '"any"';
        execute format('create function shadow.%I(text, %s) returns text language plpgsql as %L',
          'step_' || a.name, a.arguments,
          format('begin return adversary.observe(%L)::text; end', 'aggregate ' || a.name || '(' || a.arguments || ')'));
        execute format('create aggregate shadow.%I(%s) (sfunc = shadow.%I, stype = text)',
          a.name, a.arguments, 'step_' || a.name);
      end loop;
      create function shadow.step_count(bigint) returns bigint language plpgsql as $f$ begin
        perform ${observe("aggregate count(*)")}; return 1; end $f$;
      create aggregate shadow.count(*) (sfunc = shadow.step_count, stype = bigint, initcond = '0');
    end $do$`,
  },
  {
    name: "operators that shadow those of pg_catalog, or fit better",
    sql: `do $do$ declare o record; types text[] := '{text,name,oid,regclass,int4,int8,numeric,bool,pg_lsn,"\\"char\\""}';
        one text; two text; fn text; begin
      ${ALONE}
      foreach one in array types loop foreach two in array types loop
        fn := 'compare_' || md5(one || ' ' || two);
        execute format('create function shadow.%I(%s, %s) returns bool language plpgsql as %L', fn, one, two,
          format('begin return adversary.observe(%L); end', 'operator of ' || one || ' and ' || two));
        execute format('create function shadow.%I(%s, %s) returns text language plpgsql as %L', 'join_' || fn, one, two,
          format('begin return adversary.observe(%L)::text; end', 'operator || of ' || one || ' and ' || two));
        for o in select * from unnest('{=,<>,<,>,<=,>=,~~,!~~,~}'::text[]) as list (name) loop
          execute format('create operator shadow.%s (leftarg = %s, rightarg = %s, function = shadow.%I)',
            o.name, one, two, fn);
          if to_regoperator(format('pg_catalog.%s(%s, %s)', o.name, one, two)) is null then
            execute format('create operator public.%s (leftarg = %s, rightarg = %s, function = shadow.%I)',
              o.name, one, two, fn);
          end if;
        end loop;
        for o in select * from unnest('{||,+,-,*,/}'::text[]) as list (name) loop
          execute format('create operator shadow.%s (leftarg = %s, rightarg = %s, function = shadow.%I)',
            o.name, one, two, 'join_' || fn);
          if to_regoperator(format('pg_catalog.%s(%s, %s)', o.name, one, two)) is null then
            execute format('create operator public.%s (leftarg = %s, rightarg = %s, function = shadow.%I)',
              o.name, one, two, 'join_' || fn);
          end if;
        end loop;
      end loop; end loop;
    end $do$`,
  },
  {
    name: "types that shadow those of pg_catalog",
    sql: `do $do$ declare t record; begin
      ${ALONE}
      for t in select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace
        and typname in ('text', 'name', 'oid', 'regclass', 'regnamespace', 'regrole', 'json', 'jsonb', 'int4', 'int8',
          'bool', 'numeric', 'pg_lsn', 'varchar', 'timestamptz', 'bytea', 'uuid', 'xml', 'regproc', 'regtype')
      loop
        execute format('create domain shadow.%I as pg_catalog.%I check (adversary.observe(%L))', t.typname, t.typname,
          'type ' || t.typname);
      end loop;
      create domain public.record_ as pg_catalog.text check (${observe("type record_")});
    end $do$`,
  },
  {
    name: "views that shadow catalogs",
    sql: `do $do$ declare c record; begin
      ${ALONE}
      for c in select relname from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind in ('r', 'v')
        and has_table_privilege(oid, 'select')
      loop
        begin
          execute format('create view shadow.%I as select * from pg_catalog.%I where adversary.observe(%L)',
            c.relname, c.relname, 'view ' || c.relname);
        exception when invalid_table_definition then null; end;
      end loop;
    end $do$`,
  },
  {
    name: "functions named like those of the server",
    sql: `create function public.platform_file_cache_statistics(text) returns json language plpgsql as $f$ begin
        perform ${observe("function platform_file_cache_statistics")}; return '{}'; end $f$;
      create function public.json_to_record(text) returns record language plpgsql as $f$ begin
        perform ${observe("function json_to_record")}; return row(1); end $f$`,
  },
];

/** Settings that sessions of everybody get in the database of a client. */
export const SETTINGS: readonly Place[] = [
  "search_path = shadow, public, pg_catalog",
  "standard_conforming_strings = off",
  "backslash_quote = on",
  "client_encoding = 'LATIN1'",
  "quote_all_identifiers = on",
  "bytea_output = escape",
  "datestyle = 'German, DMY'",
  "intervalstyle = 'iso_8601'",
  "extra_float_digits = -15",
  "array_nulls = off",
  "transform_null_equals = on",
  "row_security = off",
  "lo_compat_privileges = off",
  "check_function_bodies = off",
  "client_min_messages = debug5",
  "constraint_exclusion = on",
  "plan_cache_mode = force_generic_plan",
  "session_replication_role = origin",
  "application_name = 'autovacuum'",
]
  // These two are for superusers.
  .filter((setting) => !/^(lo_compat_privileges|session_replication_role)/.test(setting))
  .map((setting) => ({
    name: `alter database set ${setting.split(" ")[0]}`,
    sql: `do $do$ begin ${ALONE} execute format('alter database %I set ${setting.replaceAll("'", "''")}', current_database()); end $do$`,
  }));
