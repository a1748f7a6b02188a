import { CLIENT_ERRORS, ConnectionRejected, inconsistentEndpoint } from "./errors.ts";

/** Target to which a client wants to connect. */
export type Route = {
  readonly endpointId: string;
  /** Whether the host name asks for the connection pooler. */
  readonly pooled: boolean;
  /** The world; `undefined`: the default one. */
  readonly world: string | undefined;
  /** The `options` parameter without what only the gateway understands. */
  readonly options: string | undefined;
};

const POOLER_SUFFIX = "-pooler";
/** `ep-x.<region>.<name>.w.<domain>`: the computes of a named world. */
const WORLD_IN_HOST = /\.([a-z0-9-]+)\.w\./;

/**
 * D: the endpoint is the first label of the host name (SNI), or the option `endpoint` (`project` in older
 * clients) for clients without SNI. Both may be given, but must agree.
 */
export function routeOf(serverName: string | undefined, parameters: ReadonlyMap<string, string>): Route {
  const { endpoint: fromOptions, world, rest } = parseOptions(parameters.get("options") ?? "");
  const fromHost = endpointOfHost(serverName);
  if (fromHost !== undefined && fromOptions !== undefined && fromHost !== fromOptions)
    throw new ConnectionRejected(inconsistentEndpoint(fromHost, fromOptions));
  const endpoint = fromHost ?? fromOptions;
  if (endpoint === undefined || endpoint === "") throw new ConnectionRejected(CLIENT_ERRORS.noEndpoint);
  const pooled = endpoint.endsWith(POOLER_SUFFIX);
  return {
    endpointId: pooled ? endpoint.slice(0, -POOLER_SUFFIX.length) : endpoint,
    pooled,
    world: world ?? (serverName === undefined ? undefined : WORLD_IN_HOST.exec(serverName)?.[1]),
    options: rest === "" ? undefined : rest,
  };
}

/** The first label of the host name, if it names a compute, and not `localhost` or an address. */
function endpointOfHost(serverName: string | undefined): string | undefined {
  const label = serverName?.split(".")[0]?.toLowerCase();
  return label?.startsWith("ep-") === true ? label : undefined;
}

/** Takes `endpoint=`, `project=` and `-c standin.world=` out of command-line options. */
function parseOptions(options: string): { endpoint?: string; world?: string; rest: string } {
  let endpoint: string | undefined;
  let world: string | undefined;
  const rest: string[] = [];
  const words = options.split(/\s+/).filter((word) => word !== "");
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    // `-c name=value` and `-cname=value` are the same.
    const isSeparate = word === "-c" && words[index + 1]?.startsWith("standin.world=") === true;
    const setting = isSeparate ? `-c${words[index + 1]}` : word;
    const named = /^(?:endpoint|project)=(.*)$/.exec(word)?.[1];
    if (named !== undefined) endpoint = named.toLowerCase();
    else if (setting.startsWith("-cstandin.world=")) world = setting.slice("-cstandin.world=".length);
    else rest.push(word);
    if (isSeparate) index += 1;
  }
  return {
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(world === undefined ? {} : { world }),
    rest: rest.join(" "),
  };
}
