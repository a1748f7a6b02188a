import type { ControlAnswer, ControlRoute } from "../../control-api/document/answers.ts";
import { ControlApiError, type ControlCall } from "./client.ts";

type RouteInput = {
  /** The values of `:name` in the path, in order. */
  readonly params?: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
};

/** Calls a route of the control API. The answer has the type that the document of the control API states. */
export function callRoute<R extends ControlRoute>(
  call: ControlCall,
  route: R,
  { params = [], query = {}, body }: RouteInput = {},
): Promise<ControlAnswer<R>> {
  const [method = "", path = ""] = route.split(" ");
  const values = [...params];
  const filled = path.replaceAll(/:\w+/g, () => encodeURIComponent(values.shift() ?? ""));
  const search = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return call(method, search.length === 0 ? filled : `${filled}?${search.join("&")}`, body);
}

/** The answer of `callRoute`; undefined if the token is one of a team, which may not make this call. */
export async function callRouteIfAllowed<R extends ControlRoute>(
  call: ControlCall,
  route: R,
): Promise<ControlAnswer<R> | undefined> {
  try {
    return await callRoute(call, route);
  } catch (error) {
    if (error instanceof ControlApiError && error.status === 403) return undefined;
    throw error;
  }
}
