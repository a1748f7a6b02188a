import { CsvScanner } from "../../../traffic/recorded/formats/csv-scanner.ts";
import { textAt } from "../../../traffic/recorded/rows/cells.ts";
import type { GapQueryRun } from "./gap-sql-run.ts";

const DEFAULT_PORTS = { http: "8123", https: "8443" } as const;
/** Characters of an error that are shown: one or two lines. */
const MAX_ERROR_LENGTH = 300;

/** Uses the HTTP interface: `clickhouse://user:password@host:8123/database`, or `clickhouses://` for HTTPS. */
export async function runInClickhouse(url: string, run: GapQueryRun): Promise<void> {
  const { queryOf, signal, memory, onColumns, onRow } = run;
  const protocol = url.startsWith("clickhouses:") ? "https" : "http";
  // `URL` knows the standard ports of HTTP and HTTPS, but none of `clickhouse`.
  const { hostname, port, username, password, pathname } = new URL(
    url.replace(/^clickhouses?:/, `${protocol}:`),
  );
  const address = new URL(`${protocol}://${hostname}:${port || DEFAULT_PORTS[protocol]}/`);
  const settings = {
    database: decodeURIComponent(pathname.slice(1)) || "default",
    default_format: "CSVWithNames",
    // Reading only, but with the settings of this request.
    readonly: "2",
    cancel_http_readonly_queries_on_client_close: "1",
    // An error in the middle then ends the answer with its text instead of a cut row.
    wait_end_of_query: "1",
    ...(memory === undefined ? {} : { max_memory_usage: String(memory) }),
  };
  for (const [name, value] of Object.entries(settings)) address.searchParams.set(name, value);
  const response = await fetch(address, {
    method: "POST",
    body: queryOf(),
    signal,
    headers: {
      "X-ClickHouse-User": decodeURIComponent(username) || "default",
      "X-ClickHouse-Key": decodeURIComponent(password),
    },
  });
  if (!response.ok || response.body === null)
    throw new Error(
      `status ${response.status}: ${(await response.text()).trim().slice(0, MAX_ERROR_LENGTH)}`,
    );
  let isHeader = true;
  const scanner = new CsvScanner(
    {
      row(_, cells) {
        const texts = Array.from({ length: cells.count }, (__, column) => textAt(cells, column));
        if (isHeader) onColumns(texts);
        else onRow(texts);
        isHeader = false;
      },
      bad(line, reason) {
        throw new Error(`line ${line} of the result: ${reason}`);
      },
    },
    ",",
  );
  for await (const chunk of response.body) scanner.push(chunk);
  scanner.end();
}
