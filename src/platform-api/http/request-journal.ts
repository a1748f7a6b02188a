import type { RequestBody } from "../../http/body.ts";
import { containsSecret } from "../../http/secret-text.ts";
import { MAX } from "../../input-limits/limits.ts";

const REMOVED = "[removed]";

/** Names of secret fields and query parameters, which must not be stored. */
const SECRET_NAME =
  /passw|^pwd$|passphrase|private_?key|bearer|secret|token|credential|authorization|api_?key$|^key$|^(connection_)?uris?$|connection_string|dsn/i;

/** The path and query, with secrets removed, up to a limit. */
export function redactedPath(url: string): string {
  const path = redactWholePath(url);
  return path.length > MAX.loggedPath ? `${path.slice(0, MAX.loggedPath - 1)}…` : path;
}

function redactWholePath(url: string): string {
  const path = url.slice(url.indexOf("/", url.indexOf("//") + 2));
  const query = path.indexOf("?");
  if (query < 0) return redactSegments(path);
  const parameters = path.slice(query + 1).split("&");
  return `${redactSegments(path.slice(0, query))}?${parameters.map(redactParameter).join("&")}`;
}

function redactSegments(path: string): string {
  if (!containsSecret(decodeText(path))) return path;
  const redacted = path
    .split("/")
    .map((part) => (containsSecret(decodeText(part)) ? REMOVED : part))
    .join("/");
  // The slashes of a URI divide it, so that no part of it looks like a secret.
  return containsSecret(decodeText(redacted)) ? `/${REMOVED}` : redacted;
}

function redactParameter(parameter: string): string {
  const [name = "", value] = parameter.split("=", 2);
  const isSecret = SECRET_NAME.test(decodeText(name)) && !/^(true|false)?$/.test(value ?? "");
  return isSecret || containsSecret(decodeText(parameter)) ? `${name}=${REMOVED}` : parameter;
}

function decodeText(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/**
 * The body of a request, with secrets removed. If it cannot be parsed, only its size: it may hold secrets
 * anywhere.
 */
export function redactedBody({ text, tooLarge, excess }: RequestBody): unknown {
  if (tooLarge) return { not_kept: "too large" };
  if (excess !== undefined)
    return { not_kept: excess === "levels" ? "nested too deeply" : "too many values" };
  if (text === "") return undefined;
  const characters = text.length;
  if (characters > MAX.loggedBody) return { not_kept: "too large", characters };
  try {
    return redactValue(JSON.parse(text));
  } catch {
    return { not_kept: "no JSON", characters };
  }
}

/** Removes secrets, in place: nothing else has the value. Recursive: the body is not nested too deeply. */
function redactValue(value: unknown): unknown {
  if (typeof value === "string") return containsSecret(value) ? REMOVED : value;
  if (typeof value !== "object" || value === null) return value;
  const fields = value as { [name: string]: unknown };
  for (const name in fields) {
    const inner = fields[name];
    fields[name] = isSecret(name, inner) ? REMOVED : redactValue(inner);
  }
  return value;
}

/** Booleans are not secret: `passwordless_access`, `store_passwords`. */
function isSecret(name: string, value: unknown): boolean {
  return typeof value !== "boolean" && value !== null && SECRET_NAME.test(name);
}

/**
 * The ids in a response: of itself, of its objects and of the objects in its lists. Roles and databases have
 * names.
 */
export function idsInResponse(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return undefined;
  const ids: [string, unknown][] = [];
  for (const name in body) {
    const value = (body as { readonly [name: string]: unknown })[name];
    const id =
      name === "id"
        ? value
        : Array.isArray(value)
          ? value.slice(0, MAX.loggedIds).map(idOrName).filter(isId)
          : idOrName(value);
    if (isId(id) || (Array.isArray(id) && id.length > 0)) ids.push([name, id]);
  }
  return ids.length === 0 ? undefined : Object.fromEntries(ids);
}

function idOrName(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const { id, name } = value as { id?: unknown; name?: unknown };
  return id ?? name;
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
