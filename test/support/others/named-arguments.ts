/** Arguments of a call of an operation. The keys are those of the public document. */
export type CallInput = {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body?: unknown;
};

/**
 * The arguments of a generated function of a client: the names of its parameters are those of the document,
 * such as `projectId`, `query` and `data`. Undefined if it has no parameter for a part of the input, because
 * the release is older than that part of the document.
 */
export function argumentsFor(
  called: (...args: never[]) => unknown,
  { path, query, body }: CallInput,
): readonly unknown[] | undefined {
  const ids = Object.fromEntries(Object.entries(path).map(([name, value]) => [camelCase(name), value]));
  const left = new Set(query.keys());
  let hasBody = false;
  const args = parametersOf(called).map((parameter) => {
    if (parameter === "data" || parameter === "requestBody") {
      hasBody = true;
      return body;
    }
    if (parameter === "query" || parameter === "_a") {
      left.clear();
      return { ...(parameter === "_a" ? ids : {}), ...queryObject(query) };
    }
    if (parameter in ids) return ids[parameter];
    const name = snakeCase(parameter);
    left.delete(name);
    return queryObject(query)[name];
  });
  return left.size > 0 || (body !== undefined && !hasBody) ? undefined : args;
}

/** The names, without the last one of some clients, which holds options of the request. */
function parametersOf(called: (...args: never[]) => unknown): readonly string[] {
  const [, list = ""] = /^[^(]*\(([^)]*)\)/.exec(called.toString()) ?? [];
  return list
    .split(",")
    .map((parameter) => parameter.split("=")[0]?.trim() ?? "")
    .filter((parameter) => parameter !== "" && parameter !== "params");
}

function queryObject(query: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name);
      return [name, values.length > 1 ? values : (values[0] ?? "")];
    }),
  );
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
