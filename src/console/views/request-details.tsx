import { useSignal } from "@preact/signals";
import { get } from "../client/request.ts";
import type { LoggedRequest, WorldEvent } from "../client/types.ts";
import { EventLine } from "../parts/event-line.tsx";
import { attempt } from "../state/notices.ts";

/** The events of one decision are next to each other; more of them are not shown. */
const MAX_EVENTS = 60;

/** A request of the log, with its answer and its events to unfold. */
export function RequestDetails({ request }: { readonly request: LoggedRequest }) {
  const { method, path, status, code, operation_id, body, answered, fault } = request;
  const details = { operation: operation_id, code, fault, body, answered };
  const events = useSignal<readonly WorldEvent[] | undefined>(undefined);
  // The answers of a long list are rendered only where they are read.
  const isOpen = useSignal(false);
  const unfold = async () => {
    isOpen.value = true;
    if (events.value === undefined && mayHaveEvents(request))
      events.value = await attempt(() => readEvents(request));
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void unfold()}>
      <summary>
        <b>{method}</b> {path.replace(/^\/(w\/[^/]+\/)?api\/v2/, "")}
        {code && <small> {code}</small>}
        {fault && <small class="fault"> fault {fault}</small>}
      </summary>
      {status === 423 && (
        <p>
          423: an operation of the project is under way. Clients repeat such a call; on a paused clock,
          advance to the next event.
        </p>
      )}
      {isOpen.value && <pre>{JSON.stringify(details, undefined, 1)}</pre>}
      {events.value !== undefined && events.value.length > 0 && (
        <ol class="events" aria-label="Events of this request">
          {events.value.map((event) => (
            <EventLine key={event.seq} event={event} />
          ))}
        </ol>
      )}
    </details>
  );
}

function mayHaveEvents({ method, status }: LoggedRequest): boolean {
  return method !== "GET" && method !== "HEAD" && status !== null && status < 400;
}

/** The decision that ended with the newest event when the request was answered. */
async function readEvents({ seq, at }: LoggedRequest): Promise<readonly WorldEvent[]> {
  const since = Math.max(0, seq - MAX_EVENTS);
  const { events } = await get<{ events: readonly WorldEvent[] }>(
    `/events?since=${since}&limit=${MAX_EVENTS}`,
  );
  const last = events.find((event) => event.seq === seq);
  return last?.at === at ? events.filter(({ decision }) => decision === last.decision) : [];
}
