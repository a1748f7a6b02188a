import type { ControlApi } from "../../ports/server-api.ts";
import { CliError } from "../terminal/cli-error.ts";
import type { ControlCall } from "./client.ts";
import { callRoute } from "./control-route.ts";

/** Parses the base URL of an API. Rejects a URL that would send the key to the wrong place or show it. */
export function parseApiUrl(option: string, text: string): string {
  const reject = (reason: string, given = ""): never => {
    throw new CliError(
      `${option} ${reason}: expected the base URL of an API, such as https://console.example.com/api/v2${given}`,
      true,
    );
  };
  const url = URL.canParse(text) ? new URL(text) : reject("is not a URL", `, got "${text}"`);
  if (url.protocol !== "https:" && url.protocol !== "http:") reject("must begin with https:// or http://");
  if (url.username !== "" || url.password !== "") reject("must not contain a user name or a password");
  if (url.search !== "" || url.hash !== "") reject("must not contain a query or a fragment");
  if (!/\/api\/v2\/?$/.test(url.pathname)) reject("must end in /api/v2");
  return url.origin + url.pathname.replace(/\/$/, "");
}

/** Runs `use` with the given key, or with a temporary key that is revoked afterwards. */
export async function withApiKey<T>(
  server: ControlApi,
  givenKey: string | undefined,
  name: string,
  use: (key: string) => Promise<T>,
): Promise<T> {
  if (givenKey !== undefined) return use(givenKey);
  const call: ControlCall = (method, path, body) => server.call(method, path, body);
  const temporaryKey = await callRoute(call, "POST /api_keys", { body: { key_name: name } });
  try {
    return await use(temporaryKey.key);
  } finally {
    await callRoute(call, "DELETE /api_keys/:key_id", { params: [String(temporaryKey.id)] });
  }
}
