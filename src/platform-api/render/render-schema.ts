import type { DatabaseSchema } from "../../platform/model/database-schema.ts";

/** D: the settings that a dump of pg_dump begins with. */
const HEADER = `--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

`;
const FOOTER = `--
-- PostgreSQL database dump complete
--
`;

/** The schema as SQL, in the form of pg_dump. Privileges are omitted. */
export function renderSchema({ objects }: DatabaseSchema): string {
  const parts = objects.map(({ type, schema, name, owner, sql }) => {
    // A line break in a name would end the comment.
    const title = `Name: ${name}; Type: ${type}; Schema: ${schema}; Owner: ${owner}`.replaceAll(/\s/g, " ");
    return `--\n-- ${title}\n--\n\n${sql}\n\n\n`;
  });
  return `${HEADER}${parts.join("")}${FOOTER}`;
}
