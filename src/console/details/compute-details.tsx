import { get } from "../client/request.ts";
import type { Compute, ComputeStats, Explanation } from "../client/types.ts";
import { EventLine } from "../parts/event-line.tsx";
import { Facts } from "../parts/facts.tsx";
import { commandCompute, deleteCompute, sendActivity, setDelay } from "../state/actions.ts";
import {
  formatCountdown,
  formatDuration,
  formatInstant,
  formatNumber,
  withReadableInstants,
} from "../state/format.ts";
import { useReading } from "../state/reading.ts";
import { at, canChange, nameOfCompute, now, stats } from "../state/world.ts";
import { AllFields } from "./all-fields.tsx";

export function ComputeDetails({ compute }: { readonly compute: Compute }) {
  const instant = at.value;
  const point = instant === undefined ? "" : `?at=${encodeURIComponent(new Date(instant).toISOString())}`;
  const explanation = useReading(`${compute.id}${point}`, () =>
    get<Explanation>(`/explain/endpoints/${compute.id}${point}`),
  );
  const current = instant === undefined ? stats.value.get(compute.id) : undefined;
  const isActive = compute.phase.state === "active";
  return (
    <>
      <h2>{nameOfCompute(compute)}</h2>
      <p class="id">
        <code>{compute.id}</code>
      </p>
      <StateLine compute={compute} stats={current} />
      {canChange.value && (
        <div class="buttons">
          <button type="button" class="primary" onClick={() => sendActivity(compute)}>
            Send activity
          </button>
          <button type="button" onClick={() => commandCompute(compute, isActive ? "suspend" : "start")}>
            {isActive ? "Suspend" : "Start"}
          </button>
          <button type="button" onClick={() => commandCompute(compute, "restart")} disabled={!isActive}>
            Restart
          </button>
          <button type="button" onClick={() => setDelay(compute, current?.autosuspend.delay_s ?? null)}>
            Delay …
          </button>
          <button type="button" class="danger quiet" onClick={() => deleteCompute(compute)}>
            Delete
          </button>
        </div>
      )}
      {instant !== undefined && <PastFacts compute={compute} />}
      {current && <CurrentFacts compute={compute} stats={current} />}
      <h3>Why</h3>
      <ul class="reasons">
        {explanation.value?.reasons.map(({ about, text }) => (
          <li key={about}>{withReadableInstants(text)}</li>
        ))}
      </ul>
      <h3>Events that prove it</h3>
      <ol class="events">
        {explanation.value?.events.map((event) => (
          <EventLine key={event.seq} event={event} />
        ))}
      </ol>
      <AllFields object={compute} />
    </>
  );
}

/** Details at a past instant. Caches and connections are only counted at the current one. */
function PastFacts({ compute }: { readonly compute: Compute }) {
  const { range, suspend_timeout_seconds: delay, started_at, last_active_at, suspended_at } = compute;
  const instant = (at: string | undefined) => (at === undefined ? "–" : formatInstant(at));
  return (
    <Facts
      facts={[
        ["Size limits", `${range.min_cu} to ${range.max_cu} CU`],
        [
          "Autosuspend",
          delay < 0 ? "never" : delay === 0 ? "default of the platform" : formatDuration(delay * 1_000),
        ],
        ["Started", instant(started_at)],
        ["Last active", instant(last_active_at)],
        ["Suspended", instant(suspended_at)],
      ]}
    />
  );
}

function StateLine({
  compute,
  stats: current,
}: {
  readonly compute: Compute;
  readonly stats: ComputeStats | undefined;
}) {
  const { phase } = compute;
  const suspendAt = current?.autosuspend.suspend_at;
  const present = now.value;
  return (
    <p class={`state ${phase.state}`}>
      <span class={`dot ${phase.state === "active" ? "active" : "idle"}`} aria-hidden="true" />
      {phase.state === "active"
        ? `active with ${phase.size_cu} CU`
        : compute.disabled
          ? "disabled"
          : "suspended"}
      {suspendAt && present !== undefined && (
        <span class="countdown">
          suspends in <b>{formatCountdown(Date.parse(suspendAt) - present)}</b>
        </span>
      )}
    </p>
  );
}

function CurrentFacts({
  compute,
  stats: current,
}: {
  readonly compute: Compute;
  readonly stats: ComputeStats;
}) {
  const { autosuspend, cache, connections } = current;
  const ratio = cache.file_cache_hit_ratio;
  return (
    <>
      <Facts
        facts={[
          ["Size limits", `${compute.range.min_cu} to ${compute.range.max_cu} CU`],
          ["vCPU, RAM", `${current.vcpu}, ${current.ram_gb} GB`],
          [
            "Autosuspend",
            autosuspend.delay_s === null ? "never" : formatDuration(autosuspend.delay_s * 1_000),
          ],
          ["Idle since", autosuspend.idle_since === null ? "–" : formatInstant(autosuspend.idle_since)],
          [
            "Connections",
            `${connections.direct} of ${formatNumber(current.max_connections)}, ${connections.pooled} pooled`,
          ],
          ["Queries since the start", formatNumber(current.queries)],
          ["Pending", current.pending_state ?? "nothing"],
        ]}
      />
      <h3>File cache</h3>
      <Facts
        facts={[
          [
            "Hits, misses",
            `${formatNumber(cache.file_cache_hits)}, ${formatNumber(cache.file_cache_misses)}`,
          ],
          ["Hit ratio", ratio === null ? "–" : `${formatNumber(ratio)} %`],
          [
            "Blocks used, written",
            `${formatNumber(cache.file_cache_used)}, ${formatNumber(cache.file_cache_writes)}`,
          ],
        ]}
      />
    </>
  );
}
