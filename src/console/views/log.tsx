import { useSignal } from "@preact/signals";
import { get } from "../client/request.ts";
import type { WorldEvent } from "../client/types.ts";
import { EventLine } from "../parts/event-line.tsx";
import { Instant } from "../parts/instant.tsx";
import { LongList } from "../parts/long-list.tsx";
import { PeriodBox } from "../parts/period-box.tsx";
import { Table } from "../parts/table.tsx";
import { subjectOf } from "../state/event-subject.ts";
import { formatInstant, words } from "../state/format.ts";
import { isInPeriod } from "../state/period.ts";
import { useReading } from "../state/reading.ts";
import { useRequestLog } from "../state/request-log.ts";
import { type Trace, trace } from "../state/trace.ts";
import { at, recentEvents, world } from "../state/world.ts";
import { RequestDetails } from "./request-details.tsx";

const SHOWN = 200;

/** The newest events, newest first. */
export function Events() {
  const filter = useSignal("");
  const bounds = trace.value ?? pastBounds();
  const first = useReading(`events ${bounds?.since} ${bounds?.until}`, async () => {
    const since = bounds?.since ?? Math.max(0, (world.peek()?.seq ?? 0) - SHOWN);
    return get<{ events: readonly WorldEvent[] }>(`/events?since=${since}&limit=${SHOWN}`);
  });
  const bySeq = new Map<number, WorldEvent>();
  for (const event of first.value?.events ?? []) bySeq.set(event.seq, event);
  for (const event of recentEvents.value) bySeq.set(event.seq, event);
  const isWithin = ({ seq }: WorldEvent) =>
    bounds === undefined || (bounds.since < seq && seq <= bounds.until);
  const wanted = filter.value.trim().toLowerCase();
  const shown = [...bySeq.values()]
    .filter(
      (event) =>
        isWithin(event) &&
        (wanted === "" ||
          `${words(event.type)} ${subjectOf(event)} ${JSON.stringify(event)}`.toLowerCase().includes(wanted)),
    )
    .sort((a, b) => b.seq - a.seq)
    .slice(0, SHOWN);
  return (
    <>
      <Filter
        value={filter.value}
        onInput={(text) => (filter.value = text)}
        label="Filter events by text or id"
      />
      {trace.value !== undefined && (
        <p class="limited">
          <span>
            What happened on the way to <time>{formatInstant(trace.value.to)}</time>.
          </span>
          <button
            type="button"
            onClick={() => {
              trace.value = undefined;
            }}
          >
            Show all events
          </button>
        </p>
      )}
      {shown.length === 0 ? (
        <p class="empty">No event {wanted === "" ? "yet" : `contains “${filter.value}”`}.</p>
      ) : (
        <LongList
          rows={shown}
          render={(rows) => (
            <ol class="events">
              {rows.map((event) => (
                <EventLine key={event.seq} event={event} isSelectable />
              ))}
            </ol>
          )}
        />
      )}
    </>
  );
}

/** The events up to the instant in the past that the page shows. */
function pastBounds(): Pick<Trace, "since" | "until"> | undefined {
  const { seq } = world.value ?? {};
  if (at.value === undefined || seq === undefined) return undefined;
  return { since: Math.max(0, seq - SHOWN), until: seq };
}

/** The newest requests to the platform API, newest first. */
export function Requests() {
  const filter = useSignal("");
  const log = useRequestLog(SHOWN);
  const wanted = filter.value.trim().toLowerCase();
  const shown = (log.value ?? [])
    .filter(
      (request) =>
        Date.parse(request.at) <= (at.value ?? Number.POSITIVE_INFINITY) &&
        `${request.method} ${request.path} ${request.operation_id} ${request.status} ${request.code}`
          .toLowerCase()
          .includes(wanted),
    )
    .toReversed();
  return (
    <>
      <Filter
        value={filter.value}
        onInput={(text) => (filter.value = text)}
        label="Filter requests by path, operation or status"
      />
      {shown.length === 0 ? (
        <p class="empty">
          {at.value !== undefined ? (
            `None of the newest ${SHOWN} requests came before this instant.`
          ) : wanted === "" ? (
            <>
              No client has called yet. The platform API is at <code>{location.origin}/api/v2</code>.
            </>
          ) : (
            `No request contains “${filter.value}”.`
          )}
        </p>
      ) : (
        <LongList
          rows={shown}
          render={(rows) => (
            <Table
              class="requests"
              rows={rows}
              keyOf={({ number }) => number}
              isSelected={({ at }) => isInPeriod(Date.parse(at))}
              columns={[
                {
                  title: "Select",
                  kind: "actions",
                  cell: ({ at, number }) => <PeriodBox at={at} label={`request ${number}`} />,
                },
                { title: "#", kind: "number", cell: ({ number }) => number },
                { title: "At", cell: ({ at }) => <Instant at={at} /> },
                {
                  title: "Status",
                  cell: ({ status }) => (
                    <span class={`status s${String(status ?? 0)[0]}`}>{status ?? "lost"}</span>
                  ),
                },
                { title: "Request", cell: (request) => <RequestDetails request={request} /> },
              ]}
            />
          )}
        />
      )}
    </>
  );
}

type FilterProps = {
  readonly value: string;
  readonly label: string;
  readonly onInput: (text: string) => void;
};

function Filter({ value, label, onInput }: FilterProps) {
  return (
    <input
      type="search"
      class="search"
      placeholder={label}
      aria-label={label}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
