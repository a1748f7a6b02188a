import { ConnectionRejected, protocolViolation } from "../protocol/errors.ts";
import { CLIENT_SETTINGS } from "./server-session.ts";

/** D: the platform's PgBouncer ignores it, for drivers that always send it. */
const IGNORED = "extra_float_digits";
const CANONICAL_NAMES = new Map<string, string>(CLIENT_SETTINGS.map((name) => [name.toLowerCase(), name]));

/** The settings that a client of the pooler wants. Throws `ConnectionRejected` if another one is among them. */
export function pooledSettings(
  parameters: ReadonlyMap<string, string>,
  options: string | undefined,
): Map<string, string> {
  const settings = new Map<string, string>();
  const take = (name: string, value: string, where: string) => {
    const canonical = CANONICAL_NAMES.get(name.toLowerCase());
    if (canonical !== undefined) settings.set(canonical, value);
    else if (name.toLowerCase() !== IGNORED)
      throw new ConnectionRejected(protocolViolation(`unsupported startup parameter${where}: ${name}`));
  };
  for (const [name, value] of parameters)
    if (name !== "user" && name !== "database" && name !== "options") take(name, value, "");
  const words = (options ?? "").split(/\s+/).filter((word) => word !== "");
  while (words.length > 0) {
    const word = words.shift() ?? "";
    const setting = word === "-c" ? (words.shift() ?? "") : word.replace(/^(-c|--)/, "");
    const [name = "", value] = setting.split(/=(.*)/s);
    if (value === undefined || setting === word)
      throw new ConnectionRejected(protocolViolation("unsupported startup parameter: options"));
    take(name.replaceAll("-", "_"), value, " in options");
  }
  return settings;
}
