import { isReadOnly } from "../client/mode.ts";
import { control, get } from "../client/request.ts";
import type { FaultList } from "../client/types.ts";
import { Table } from "../parts/table.tsx";
import { attempt } from "../state/notices.ts";
import { ask } from "../state/question.ts";
import { useReading } from "../state/reading.ts";
import { refreshAll } from "../state/refresh.ts";
import { addFault } from "./fault-form.ts";

const EXAMPLES = [
  {
    label: "Answer the first two creations of a branch with 423",
    on: { operation: "createProjectBranch" },
    when: { first: 2 },
    effect: { answer: { status: 423 } },
  },
  {
    label: "Answer one request in a hundred with 503",
    on: { operation: "*" },
    when: { probability: 0.01 },
    effect: { answer: { status: 503 } },
  },
  {
    label: "Start computes 5 to 20 seconds slower",
    on: {},
    when: {},
    effect: { start_slower: { by: "5s..20s" } },
  },
] as const;

export function Faults() {
  const faults = useReading("faults", () => get<FaultList>("/faults"));
  const list = faults.value?.faults ?? [];
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={addFault} disabled={isReadOnly}>
          Add fault …
        </button>
        {EXAMPLES.map(({ label, ...fault }) => (
          <button
            type="button"
            key={label}
            class="quiet"
            onClick={() => addExample(fault)}
            disabled={isReadOnly}
          >
            {label} …
          </button>
        ))}
      </div>
      {faults.value !== undefined && list.length === 0 ? (
        <p class="empty">No faults: everything works. Add one to see how a client copes.</p>
      ) : (
        <Table
          rows={list}
          keyOf={({ name }) => name}
          columns={[
            { title: "Name", cell: ({ name }) => <b class="whole">{name}</b> },
            { title: "Applies to", cell: ({ on }) => short(on, "everything") },
            { title: "When", cell: ({ when }) => short(when, "always") },
            { title: "Effect", cell: ({ effect }) => short(effect, "") },
            { title: "Hits / seen", kind: "number", cell: ({ hits, seen }) => `${hits} / ${seen}` },
            {
              title: "Remove",
              kind: "actions",
              cell: ({ name }) => (
                <button type="button" class="quiet" disabled={isReadOnly} onClick={() => removeFault(name)}>
                  Remove
                </button>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

function addExample(example: object): void {
  ask({
    title: "Set a fault",
    text: "The same seed triggers the same faults.",
    fields: [
      { name: "name", label: "Name", placeholder: "busy", isRequired: true },
      {
        name: "fault",
        label: "Fault",
        value: JSON.stringify(example, undefined, 2),
        isLong: true,
        hint: "on: which calls or operations, when: how often, effect: what happens instead.",
      },
    ],
    action: "Set fault",
    onSubmit: async ({ name = "", fault = "{}" }) => {
      await control("PUT", `/faults/${encodeURIComponent(name)}`, JSON.parse(fault));
      refreshAll();
    },
  });
}

async function removeFault(name: string): Promise<void> {
  await attempt(() => control("DELETE", `/faults/${encodeURIComponent(name)}`), `Fault ${name} is removed.`);
  refreshAll();
}

/** `{"operation":["x"]}` as `operation: x`. */
function short(value: unknown, empty: string): string {
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).map(([name, inner]) => `${name}: ${short(inner, "")}`);
  if (Array.isArray(value)) return value.map((inner) => short(inner, "")).join(", ");
  return parts.length === 0 ? empty : parts.join(", ");
}
