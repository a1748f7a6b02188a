import fc from "fast-check";
import { API_KEY } from "../double/double.ts";
import { malformed, mutated } from "./bodies.ts";
import { FREE_KEY, type ResourceNames } from "./fuzzed-world.ts";
import { PUBLIC_ROUTES, ROUTES } from "./routes.ts";

/** A request template. `{…}` in path and body stands for ids of the world that it is sent to. */
export type RandomRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body as text, so that it may be invalid JSON. */
  readonly body: string | undefined;
};

const GOOD_HEADERS = { Authorization: `Bearer ${API_KEY}`, "Content-Type": "application/json" };

const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND");
const segment = fc.oneof(
  fc.constantFrom(
    "{project}",
    "{branch}",
    "{endpoint}",
    "{operation}",
    "{organization}",
    "projects",
    "branches",
    "endpoints",
    "api_keys",
    "users",
    "me",
  ),
  fc.constantFrom(
    "..",
    ".",
    "%2e%2e",
    "%00",
    "%zz",
    "%c0%af",
    "__proto__",
    "ep-",
    "br-none",
    "A",
    "0",
    "-1",
    "1e3",
    "x".repeat(70),
    "y".repeat(5_000),
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }).map(encodeURIComponent),
);
const nonsensePath = fc
  .tuple(
    fc.constantFrom(
      "",
      "/api",
      "/api/v1",
      "/api/v2",
      "/api/v2/projects",
      "/api/v2/api/v2",
      "/_sim",
      "/_sim/_sim",
      "//",
    ),
    fc.array(segment, { maxLength: 6 }),
  )
  .map(([start, segments]) => [start, ...segments].join("/") || "/");

const cursor = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.json().map((text) => Buffer.from(text).toString("base64url")),
  fc
    .tuple(
      fc.constantFrom("projects", "branches", "operations"),
      fc.array(fc.oneof(fc.double(), fc.constantFrom("name", "asc", "created_at"), fc.maxSafeInteger())),
    )
    .map(([list, place]) => Buffer.from(JSON.stringify([list, ...place])).toString("base64url")),
);
const parameter = fc.oneof(
  fc.tuple(fc.constant("cursor"), cursor),
  fc.tuple(
    fc.constantFrom("limit", "since", "timeout"),
    fc.constantFrom("1", "0", "-1", "10000", "99999999", "1.5", "1e2", "", " 1", "１", "999999999999999"),
  ),
  fc.tuple(
    fc.constantFrom(
      "search",
      "sort_by",
      "sort_order",
      "org_id",
      "recoverable",
      "include_deleted",
      "database_name",
      "role_name",
      "pooled",
      "branch_id",
      "account_id",
    ),
    fc.oneof(
      fc.constantFrom(
        "name",
        "asc",
        "true",
        "neondb",
        "neondb_owner",
        "thrifty",
        "{organization}",
        "{branch}",
      ),
      fc.string({ unit: "grapheme" }),
    ),
  ),
);
const query = fc
  .array(parameter, { maxLength: 3 })
  .map((parameters) =>
    parameters
      .map(([name, value]) => `${name}=${value.startsWith("{") ? value : encodeURIComponent(value)}`)
      .join("&"),
  );

const authorization = fc.oneof(
  { weight: 12, arbitrary: fc.constant(`Bearer ${API_KEY}`) },
  { weight: 2, arbitrary: fc.constant(`Bearer ${FREE_KEY}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "Bearer",
      "Bearer ",
      "bearer  k",
      `Basic ${API_KEY}`,
      `Bearer ${API_KEY} x`,
      `Bearer ${"z".repeat(9_000)}`,
      "Bearer é",
    ),
  },
);
const headers = fc
  .record(
    {
      Authorization: authorization,
      "Content-Type": fc.oneof(
        {
          weight: 8,
          arbitrary: fc.constantFrom(
            "application/json",
            "application/json; charset=utf-8",
            "APPLICATION/JSON",
          ),
        },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            "",
            "text/plain",
            "multipart/form-data",
            "application/jsonx",
            "application/x-www-form-urlencoded",
            "é",
          ),
        },
      ),
      "X-Request-ID": fc.constantFrom("abc", "", " ", "a b", "é", "r".repeat(500), "<script>"),
      Accept: fc.constantFrom("*/*", "text/html", "nonsense"),
      Origin: fc.constantFrom("http://localhost", "https://elsewhere.example", "null"),
      "Last-Event-ID": fc.constantFrom("0", "-1", "x", "1e9"),
      "Content-Encoding": fc.constantFrom("gzip", "identity"),
    },
    { requiredKeys: ["Authorization", "Content-Type"] },
  )
  .map((fields) => {
    const { Origin, ...usual } = fields;
    // Most callers are not web pages.
    return (fields["Last-Event-ID"] === "x" ? fields : usual) as Record<string, string>;
  });

/** A route with a valid body, or a changed one. */
const likely = fc
  .oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ROUTES.filter(([, , body]) => body !== undefined)) },
    { weight: 2, arbitrary: fc.constantFrom(...ROUTES) },
    { weight: 1, arbitrary: fc.constantFrom(...PUBLIC_ROUTES) },
  )
  .chain(([method, path, valid]) =>
    fc.record({
      method: fc.constant(method),
      path: fc.constant(path),
      body: bodyFor(method, valid),
      query: method === "GET" ? query : fc.constant(""),
      headers,
    }),
  );

/** Requests with valid path and headers: only the body may be wrong. */
export const likelyRequest: fc.Arbitrary<RandomRequest> = likely.map((request) =>
  withDescription({ ...request, headers: GOOD_HEADERS }),
);

const unlikely = fc.record({
  method,
  path: fc.oneof(nonsensePath, fc.constantFrom(...ROUTES.map(([, path]) => path))),
  body: fc.option(malformed, { nil: undefined }),
  query,
  headers,
});

export const randomRequest: fc.Arbitrary<RandomRequest> = fc
  .oneof({ weight: 4, arbitrary: likely }, { weight: 1, arbitrary: unlikely })
  .map(withDescription);

function withDescription(request: RandomRequest): RandomRequest {
  return Object.assign(request, { [fc.toStringMethod]: () => describe(request) });
}

function describe({ method, path, query, headers, body }: RandomRequest): string {
  const shown = JSON.stringify({ headers, body }, (_, value) =>
    typeof value === "string" && value.length > 999 ? `${value.length} × …${value.slice(-20)}` : value,
  );
  return `${method} ${path}${query === "" ? "" : `?${query}`} ${shown}`;
}

function bodyFor(method: string, valid: unknown): fc.Arbitrary<string | undefined> {
  if (method === "GET") return fc.constant(undefined);
  if (valid === undefined) return fc.option(malformed, { nil: undefined, freq: 3 });
  const text = mutated(valid).map((body) => JSON.stringify(body));
  return fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: malformed });
}

/** The request with its placeholders filled in; `undefined` if it cannot be sent. */
export function requestOf(
  { method, path, query, headers, body }: RandomRequest,
  names: ResourceNames,
  signal: AbortSignal,
): Request | undefined {
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name) => names[name as keyof ResourceNames] ?? whole);
  try {
    const carries = method !== "GET" && method !== "HEAD" && body !== undefined;
    const url = `http://localhost${fill(path)}${query === "" ? "" : `?${fill(query)}`}`;
    return new Request(url, { method, headers, signal, ...(carries ? { body: fill(body) } : {}) });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
