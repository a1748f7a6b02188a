import { RepeatedRequests } from "../platform-api/http/repeated-requests.ts";
import { type AppOptions, CELL_HEADER } from "./create-app.ts";
import { spellingOf } from "./http-server.ts";

/** For `createApp` and `createHttpServer` of one server. */
export function repeatedRequests({
  worlds,
  cell,
  onBug,
}: Pick<AppOptions, "worlds" | "cell" | "onBug">): RepeatedRequests {
  return new RepeatedRequests({
    use: (world) => worlds.use(world),
    spell: spellingOf,
    headers: cell === undefined ? {} : { [CELL_HEADER]: cell },
    onBug,
  });
}
