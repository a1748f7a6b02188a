// Runs cases and prints one line of JSON for each: its name, and its result or its error. The first argument of a
// suite is the connection URI, the second `direct`, `unpooled` or `pooled`.

export const uri = process.argv[2];
const mode = process.argv[3];

/** What the `pg` below the tools gets. By itself it verifies the certificate with `sslmode=require`. */
export const connection = {
  host: new URL(uri).hostname,
  port: Number(new URL(uri).port),
  user: new URL(uri).username,
  password: decodeURIComponent(new URL(uri).password) || undefined,
  database: new URL(uri).pathname.slice(1),
  options: new URL(uri).searchParams.get("options") ?? undefined,
  ssl: new URL(uri).searchParams.get("sslmode") === "require" && { rejectUnauthorized: false },
};

/** A case that needs a session of its own does not run through the pooler, which shares sessions. */
export async function run(name, work, needsSession = false) {
  if (needsSession && mode === "pooled") return;
  let outcome;
  try {
    outcome = { result: (await work()) ?? null };
  } catch (error) {
    outcome = { error: describe(error) };
  }
  console.log(JSON.stringify({ case: name, ...outcome }));
}

export function describe(error) {
  const { code, detail, constraint, table } = error.original ?? error.driverError ?? error;
  return { type: error.name, message: error.message, code, detail, constraint, table };
}
