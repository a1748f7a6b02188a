import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { followStream } from "../client/event-stream.ts";
import { get } from "../client/request.ts";
import type { LoggedRequest, RequestList } from "../client/types.ts";

/** The newest requests to the platform API, oldest first, while they arrive. `undefined` until they are read. */
export function useRequestLog(size: number): Signal<readonly LoggedRequest[] | undefined> {
  const log = useSignal<readonly LoggedRequest[] | undefined>(undefined);
  useEffect(() => {
    const add = (entries: readonly LoggedRequest[], to: readonly LoggedRequest[]) => {
      const newest = to.at(-1)?.number ?? 0;
      log.value = [...to, ...entries.filter(({ number }) => number > newest)].slice(-size);
    };
    const read = async () => {
      const { requests } = await get<RequestList>(`/requests?newest=${size}`);
      // Requests may have arrived in the meantime.
      add(log.peek() ?? [], requests);
    };
    return followStream<LoggedRequest>("/requests/stream", ({ number }) => number, {
      onOpen: () => void read().catch(() => undefined),
      onEntries: (entries) => add(entries, log.peek() ?? []),
      // The stream of events says that the server is gone.
      onLost: () => undefined,
    });
  }, [log, size]);
  return log;
}
