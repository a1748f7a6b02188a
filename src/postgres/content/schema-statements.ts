// Statements on the catalogs of a database, which write its schema as SQL. They call only functions of Postgres that
// call no code of clients. Objects of extensions are omitted, and those of the superuser.

/** Not of an extension. `of`: the catalog and the expression of its oid. */
function isOwn(catalog: string, oid: string): string {
  return `NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_catalog.${catalog}'::regclass AND objid = ${oid}
    AND deptype = 'e')`;
}

const OWN_SCHEMA = `nspname !~ '^pg_' AND nspname <> 'information_schema'`;
const OWNER = (column: string) => `pg_get_userbyid(${column})`;
const RELATION = "format('%I.%I', n.nspname, c.relname)";
const RELATIONS = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace`;
const OWN_RELATION = `${OWN_SCHEMA} AND c.relowner <> 10 AND ${isOwn("pg_class", "c.oid")}`;

/** One row for each object: its schema, name and owner, and how it is created. In the order of creation. */
export const SCHEMA_STATEMENTS: readonly { readonly type: string; readonly sql: string }[] = [
  {
    type: "SCHEMA",
    sql: `SELECT '-' AS schema, nspname AS name, ${OWNER("nspowner")} AS owner,
        format(E'CREATE SCHEMA %I;\\n\\n\\nALTER SCHEMA %I OWNER TO %I;', nspname, nspname, ${OWNER("nspowner")}) AS ddl
      FROM pg_namespace n WHERE ${OWN_SCHEMA} AND nspname <> 'public' AND nspowner <> 10
        AND ${isOwn("pg_namespace", "n.oid")} ORDER BY 2`,
  },
  {
    type: "EXTENSION",
    sql: `SELECT '-' AS schema, extname AS name, '' AS owner,
        format('CREATE EXTENSION IF NOT EXISTS %I WITH SCHEMA %I;', extname, nspname) AS ddl
      FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
      WHERE extname <> 'plpgsql' ORDER BY 2`,
  },
  {
    type: "TYPE",
    sql: `SELECT nspname AS schema, typname AS name, ${OWNER("typowner")} AS owner,
        CASE typtype
          WHEN 'e' THEN format(E'CREATE TYPE %I.%I AS ENUM (\\n%s\\n);', nspname, typname,
            (SELECT string_agg('    ' || quote_literal(enumlabel), E',\\n' ORDER BY enumsortorder)
             FROM pg_enum WHERE enumtypid = t.oid))
          WHEN 'c' THEN format(E'CREATE TYPE %I.%I AS (\\n%s\\n);', nspname, typname,
            (SELECT string_agg(format(E'\\t%I %s', attname, format_type(atttypid, atttypmod)), E',\\n' ORDER BY attnum)
             FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0 AND NOT attisdropped))
          WHEN 'r' THEN format(E'CREATE TYPE %I.%I AS RANGE (\\n    subtype = %s\\n);', nspname, typname,
            (SELECT format_type(rngsubtype, NULL) FROM pg_range WHERE rngtypid = t.oid))
          ELSE format('CREATE DOMAIN %I.%I AS %s%s%s%s;', nspname, typname, format_type(typbasetype, typtypmod),
            ' DEFAULT ' || typdefault, CASE WHEN typnotnull THEN ' NOT NULL' END,
            (SELECT string_agg(format(E'\\n\\tCONSTRAINT %I %s', conname, pg_get_constraintdef(oid)), '' ORDER BY conname)
             FROM pg_constraint WHERE contypid = t.oid AND contype = 'c'))
        END || format(E'\\n\\n\\nALTER %s %I.%I OWNER TO %I;', CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END,
          nspname, typname, ${OWNER("typowner")}) AS ddl
      FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace LEFT JOIN pg_class c ON c.oid = typrelid
      WHERE ${OWN_SCHEMA} AND typowner <> 10 AND ${isOwn("pg_type", "t.oid")}
        AND (typtype IN ('e', 'd', 'r') OR (typtype = 'c' AND relkind = 'c')) ORDER BY t.oid`,
  },
  {
    type: "FUNCTION",
    sql: `SELECT nspname AS schema, format('%s(%s)', proname, pg_get_function_identity_arguments(p.oid)) AS name,
        ${OWNER("proowner")} AS owner,
        pg_get_functiondef(p.oid) || format(E';\\n\\n\\nALTER %s %I.%I(%s) OWNER TO %I;',
          CASE prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END, nspname, proname,
          pg_get_function_identity_arguments(p.oid), ${OWNER("proowner")}) AS ddl
      FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
      WHERE ${OWN_SCHEMA} AND prokind IN ('f', 'p') AND proowner <> 10 AND ${isOwn("pg_proc", "p.oid")}
      ORDER BY nspname, proname, 2`,
  },
  {
    type: "TABLE",
    sql: `SELECT nspname AS schema, relname AS name, ${OWNER("relowner")} AS owner,
        format(E'CREATE %sTABLE %s (%s)%s%s;', CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' END, ${RELATION},
          (SELECT E'\\n' || string_agg('    ' || line, E',\\n' ORDER BY place, line) || E'\\n' FROM (
            SELECT attnum AS place, concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
              (SELECT format(' COLLATE %I.%I', cn.nspname, collname) FROM pg_collation
                JOIN pg_namespace cn ON cn.oid = collnamespace JOIN pg_type ON pg_type.oid = atttypid
               WHERE pg_collation.oid = attcollation AND attcollation <> typcollation),
              (SELECT CASE WHEN attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s)%s',
                  pg_get_expr(adbin, adrelid), CASE attgenerated WHEN 's' THEN ' STORED' END)
                ELSE ' DEFAULT ' || pg_get_expr(adbin, adrelid) END
               FROM pg_attrdef d WHERE adrelid = c.oid AND adnum = attnum AND NOT EXISTS (SELECT FROM pg_depend
                 JOIN pg_class s ON s.oid = refobjid AND s.relkind = 'S'
                 WHERE classid = 'pg_catalog.pg_attrdef'::regclass AND objid = d.oid)),
              CASE WHEN attnotnull THEN ' NOT NULL' END) AS line
            FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
            UNION ALL
            SELECT 32767, format('CONSTRAINT %I %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
            WHERE conrelid = c.oid AND contype = 'c' AND conislocal) AS lines),
          (SELECT format(E'\\nINHERITS (%s)', string_agg(inhparent::regclass::text, ', ' ORDER BY inhseqno))
           FROM pg_inherits WHERE inhrelid = c.oid AND NOT c.relispartition HAVING count(*) > 0),
          CASE relkind WHEN 'p' THEN E'\\nPARTITION BY ' || pg_get_partkeydef(c.oid) END)
        || format(E'\\n\\n\\nALTER TABLE %s OWNER TO %I;', ${RELATION}, ${OWNER("relowner")}) AS ddl
      FROM ${RELATIONS} WHERE relkind IN ('r', 'p') AND ${OWN_RELATION}
      ORDER BY EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid AND NOT c.relispartition), nspname, relname`,
  },
  {
    type: "SEQUENCE",
    sql: `SELECT nspname AS schema, relname AS name, ${OWNER("relowner")} AS owner, concat(
        format(E'CREATE SEQUENCE %s%s\\n    START WITH %s\\n    INCREMENT BY %s\\n    MINVALUE %s\\n    MAXVALUE %s\\n    CACHE %s%s;',
          ${RELATION}, CASE WHEN seqtypid <> 'bigint'::regtype THEN E'\\n    AS ' || format_type(seqtypid, NULL) END,
          seqstart, seqincrement, seqmin, seqmax, seqcache, CASE WHEN seqcycle THEN E'\\n    CYCLE' END),
        format(E'\\n\\n\\nALTER SEQUENCE %s OWNER TO %I;', ${RELATION}, ${OWNER("relowner")}),
        (SELECT format(E'\\n\\nALTER SEQUENCE %s OWNED BY %s.%I;', ${RELATION}, refobjid::regclass, attname)
         FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
         WHERE classid = 'pg_catalog.pg_class'::regclass AND objid = c.oid AND deptype = 'a'
           AND refclassid = 'pg_catalog.pg_class'::regclass)) AS ddl
      FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE ${OWN_RELATION} AND NOT EXISTS (SELECT FROM pg_depend
        WHERE classid = 'pg_catalog.pg_class'::regclass AND objid = c.oid AND deptype = 'i')
      ORDER BY nspname, relname`,
  },
  {
    type: "VIEW",
    sql: `SELECT nspname AS schema, relname AS name, ${OWNER("relowner")} AS owner, CASE relkind
          WHEN 'v' THEN format(E'CREATE VIEW %s AS\\n%s', ${RELATION}, pg_get_viewdef(c.oid))
          ELSE format(E'CREATE MATERIALIZED VIEW %s AS\\n%s\\n  WITH NO DATA;', ${RELATION},
            rtrim(pg_get_viewdef(c.oid), ';'))
        END || format(E'\\n\\n\\nALTER %sVIEW %s OWNER TO %I;', CASE relkind WHEN 'm' THEN 'MATERIALIZED ' END,
          ${RELATION}, ${OWNER("relowner")}) AS ddl
      FROM ${RELATIONS} WHERE relkind IN ('v', 'm') AND ${OWN_RELATION} ORDER BY c.oid`,
  },
  {
    type: "DEFAULT",
    sql: `SELECT nspname AS schema, concat(c.relname, ' ', attname) AS name, ${OWNER("c.relowner")} AS owner,
        CASE WHEN attidentity = '' THEN format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s;', ${RELATION},
            attname, (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = c.oid AND adnum = attnum))
          ELSE format(E'ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (\\n    SEQUENCE NAME %s\\n    START WITH %s\\n    INCREMENT BY %s\\n    MINVALUE %s\\n    MAXVALUE %s\\n    CACHE %s\\n);',
            ${RELATION}, attname, CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, s.oid::regclass,
            seqstart, seqincrement, seqmin, seqmax, seqcache) END AS ddl
      FROM ${RELATIONS} JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
        JOIN pg_depend d ON (attidentity <> '' AND d.classid = 'pg_catalog.pg_class'::regclass AND d.deptype = 'i'
            AND refclassid = 'pg_catalog.pg_class'::regclass AND refobjid = c.oid AND refobjsubid = attnum)
          OR (attidentity = '' AND d.classid = 'pg_catalog.pg_attrdef'::regclass
            AND objid = (SELECT oid FROM pg_attrdef WHERE adrelid = c.oid AND adnum = attnum)
            AND refclassid = 'pg_catalog.pg_class'::regclass AND refobjid <> c.oid)
        JOIN pg_class s ON s.relkind = 'S' AND s.oid IN (objid, refobjid) JOIN pg_sequence ON seqrelid = s.oid
      WHERE c.relkind IN ('r', 'p') AND ${OWN_SCHEMA} AND c.relowner <> 10 ORDER BY nspname, c.relname, attnum`,
  },
  {
    type: "TABLE ATTACH",
    sql: `SELECT nspname AS schema, relname AS name, ${OWNER("relowner")} AS owner,
        format('ALTER TABLE ONLY %s ATTACH PARTITION %s %s;', inhparent::regclass, ${RELATION},
          pg_get_expr(relpartbound, c.oid)) AS ddl
      FROM ${RELATIONS} JOIN pg_inherits ON inhrelid = c.oid
      WHERE relispartition AND relkind IN ('r', 'p') AND ${OWN_RELATION} ORDER BY nspname, relname`,
  },
  ...[
    { type: "CONSTRAINT", which: "contype IN ('p', 'u', 'x')" },
    { type: "FK CONSTRAINT", which: "contype = 'f'" },
  ].map(({ type, which }) => ({
    type,
    sql: `SELECT nspname AS schema, concat(relname, ' ', conname) AS name, ${OWNER("relowner")} AS owner,
        format(E'ALTER TABLE %s%s\\n    ADD CONSTRAINT %I %s;', CASE relkind WHEN 'r' THEN 'ONLY ' END, ${RELATION}, conname, pg_get_constraintdef(k.oid)) AS ddl
      FROM pg_constraint k JOIN pg_class c ON c.oid = conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE ${which} AND conislocal AND conparentid = 0 AND ${OWN_RELATION} ORDER BY nspname, relname, conname`,
  })),
  {
    // One of a partitioned table creates those of its partitions.
    type: "INDEX",
    sql: `SELECT nspname AS schema, i.relname AS name, ${OWNER("c.relowner")} AS owner,
        CASE i.relkind WHEN 'I' THEN replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
          ELSE pg_get_indexdef(indexrelid) END || ';' AS ddl
      FROM pg_index JOIN pg_class i ON i.oid = indexrelid JOIN pg_class c ON c.oid = indrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE ${OWN_RELATION} AND NOT i.relispartition AND NOT EXISTS (SELECT FROM pg_constraint
        WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x')) ORDER BY nspname, i.relname`,
  },
  {
    type: "TRIGGER",
    sql: `SELECT nspname AS schema, concat(relname, ' ', tgname) AS name, ${OWNER("relowner")} AS owner,
        pg_get_triggerdef(t.oid) || ';' AS ddl
      FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE NOT tgisinternal AND ${OWN_RELATION} ORDER BY nspname, relname, tgname`,
  },
  {
    type: "POLICY",
    sql: `SELECT nspname AS schema, concat(relname, ' ', polname) AS name, ${OWNER("relowner")} AS owner,
        concat(format('CREATE POLICY %I ON %s', polname, ${RELATION}), CASE WHEN NOT polpermissive THEN ' AS RESTRICTIVE' END,
          CASE polcmd WHEN 'r' THEN ' FOR SELECT' WHEN 'a' THEN ' FOR INSERT' WHEN 'w' THEN ' FOR UPDATE'
            WHEN 'd' THEN ' FOR DELETE' END,
          (SELECT ' TO ' || string_agg(quote_ident(rolname), ', ' ORDER BY rolname) FROM pg_roles WHERE oid = ANY (polroles)),
          ' USING (' || pg_get_expr(polqual, polrelid) || ')',
          ' WITH CHECK (' || pg_get_expr(polwithcheck, polrelid) || ')', ';') AS ddl
      FROM pg_policy JOIN pg_class c ON c.oid = polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE ${OWN_RELATION} ORDER BY nspname, relname, polname`,
  },
  {
    type: "ROW SECURITY",
    sql: `SELECT nspname AS schema, relname AS name, ${OWNER("relowner")} AS owner,
        concat(format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY;', ${RELATION}), CASE WHEN relforcerowsecurity THEN
          format(E'\\n\\nALTER TABLE ONLY %s FORCE ROW LEVEL SECURITY;', ${RELATION}) END) AS ddl
      FROM ${RELATIONS} WHERE relrowsecurity AND ${OWN_RELATION} ORDER BY nspname, relname`,
  },
  {
    type: "COMMENT",
    sql: `SELECT nspname AS schema, concat(relname, '.' || attname) AS name, ${OWNER("relowner")} AS owner,
        format('COMMENT ON %s %s%s IS %L;', CASE WHEN objsubid > 0 THEN 'COLUMN' WHEN relkind = 'v' THEN 'VIEW'
            WHEN relkind = 'm' THEN 'MATERIALIZED VIEW' WHEN relkind = 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, ${RELATION},
          '.' || quote_ident(attname), description) AS ddl
      FROM pg_description JOIN pg_class c ON c.oid = objoid JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_attribute ON attrelid = c.oid AND attnum = objsubid AND objsubid > 0
      WHERE classoid = 'pg_catalog.pg_class'::regclass AND relkind IN ('r', 'p', 'v', 'm', 'S') AND ${OWN_RELATION}
      ORDER BY nspname, relname, objsubid`,
  },
];

/** The tables as JSON, in the form of the public document. */
export const TABLES_AS_JSON = `SELECT json_build_object('schema', nspname, 'name', relname,
    'columns', (SELECT coalesce(json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
        'nullable', NOT attnotnull, 'generated', attgenerated <> '') ORDER BY attnum), '[]')
      FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
    'constraints', (SELECT coalesce(json_agg(json_strip_nulls(json_build_object(
        'type', CASE contype WHEN 'p' THEN 'primary_key' WHEN 'u' THEN 'unique' ELSE 'foreign_key' END,
        'columns', (SELECT json_agg(attname ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS key (number, place)
          JOIN pg_attribute ON attrelid = conrelid AND attnum = number),
        'name', conname,
        'referenced_table', CASE WHEN contype = 'f' THEN (SELECT json_build_object('schema', fn.nspname,
          'table', f.relname, 'columns', (SELECT json_agg(attname ORDER BY place)
            FROM unnest(confkey) WITH ORDINALITY AS key (number, place)
            JOIN pg_attribute ON attrelid = confrelid AND attnum = number))
          FROM pg_class f JOIN pg_namespace fn ON fn.oid = f.relnamespace WHERE f.oid = confrelid) END))
        ORDER BY conname), '[]') FROM pg_constraint WHERE conrelid = c.oid AND contype IN ('p', 'u', 'f')))::text AS table
  FROM ${RELATIONS} WHERE relkind IN ('r', 'p') AND ${OWN_RELATION} ORDER BY nspname, relname`;
