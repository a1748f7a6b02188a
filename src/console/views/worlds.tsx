import { useSignal } from "@preact/signals";
import { isReadOnly } from "../client/mode.ts";
import { control, get, hrefOfWorld, WORLD_NAME } from "../client/request.ts";
import type { SnapshotList, WorldList } from "../client/types.ts";
import { Instant } from "../parts/instant.tsx";
import { Table } from "../parts/table.tsx";
import { forkHere } from "../state/fork-here.ts";
import { formatBytes, formatNumber } from "../state/format.ts";
import { ask } from "../state/question.ts";
import { useReading } from "../state/reading.ts";
import { refreshAll } from "../state/refresh.ts";
import { at, changes } from "../state/world.ts";
import { WorldDifferences } from "./world-differences.tsx";

export function Worlds() {
  const compared = useSignal<string | undefined>(undefined);
  const worlds = useReading("world list", () => get<WorldList>("/worlds"));
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => forkHere(at.value)} disabled={isReadOnly}>
          Fork this world
        </button>
      </div>
      <Table
        rows={worlds.value?.worlds ?? []}
        keyOf={({ name }) => name}
        columns={[
          {
            title: "World",
            cell: ({ name }) =>
              name === WORLD_NAME ? <b>{name}</b> : <a href={hrefOfWorld(name)}>{name}</a>,
          },
          { title: "Its clock", cell: ({ now }) => <Instant at={now} /> },
          { title: "Events", kind: "number", cell: ({ seq }) => formatNumber(seq) },
          { title: "Size", kind: "number", cell: ({ size_bytes }) => formatBytes(size_bytes) },
          {
            title: "Compare",
            kind: "actions",
            cell: ({ name }) =>
              name !== WORLD_NAME && (
                <button
                  type="button"
                  class="quiet"
                  onClick={() => {
                    compared.value = name;
                  }}
                >
                  Compare
                </button>
              ),
          },
          {
            title: "Delete",
            kind: "actions",
            cell: ({ name }) =>
              name !== "default" &&
              name !== WORLD_NAME && (
                <button
                  type="button"
                  class="quiet danger"
                  disabled={isReadOnly}
                  onClick={() => deleteWorld(name)}
                >
                  Delete
                </button>
              ),
          },
        ]}
      />
      {compared.value !== undefined && (
        <WorldDifferences
          other={compared.value}
          onClose={() => {
            compared.value = undefined;
          }}
        />
      )}
    </>
  );
}

function deleteWorld(name: string): void {
  ask({
    title: `Delete world ${name}?`,
    text: "Its file and its snapshots are deleted.",
    action: "Delete",
    isDangerous: true,
    onSubmit: async () => {
      await control("DELETE", `/worlds/${name}`);
      changes.value += 1;
    },
  });
}

export function Snapshots() {
  const snapshots = useReading("snapshots", () => get<SnapshotList>("/snapshots"));
  const list = snapshots.value?.snapshots ?? [];
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={takeSnapshot} disabled={isReadOnly}>
          Take snapshot
        </button>
      </div>
      {snapshots.value !== undefined && list.length === 0 ? (
        <p class="empty">No snapshots. A snapshot is the whole world with its clock, to come back to.</p>
      ) : (
        <Table
          rows={list}
          keyOf={({ name }) => name}
          columns={[
            {
              title: "Snapshot",
              cell: ({ name, kind }) => (
                <>
                  {name} {kind !== "manual" && <small>{kind}</small>}
                </>
              ),
            },
            { title: "World's clock", cell: ({ now }) => <Instant at={now} /> },
            { title: "Events", kind: "number", cell: ({ seq }) => formatNumber(seq) },
            { title: "Size", kind: "number", cell: ({ size_bytes }) => formatBytes(size_bytes) },
            {
              title: "Restore",
              kind: "actions",
              cell: ({ name }) => (
                <button type="button" class="quiet" disabled={isReadOnly} onClick={() => restore(name)}>
                  Restore
                </button>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

function takeSnapshot(): void {
  ask({
    title: "Take a snapshot",
    fields: [
      {
        name: "name",
        label: "Name",
        placeholder: "before-migration",
        hint: "a to z, 0 to 9, dot, _ and -",
        isRequired: true,
      },
    ],
    action: "Take snapshot",
    onSubmit: async ({ name = "" }) => {
      await control("POST", "/snapshots", { name });
      changes.value += 1;
    },
  });
}

function restore(name: string): void {
  ask({
    title: `Restore ${name}?`,
    text: "The world and its clock go back to the snapshot. What is there now is preserved as another snapshot.",
    action: "Restore",
    onSubmit: async () => {
      await control("POST", `/snapshots/${encodeURIComponent(name)}/restore`);
      at.value = undefined;
      refreshAll();
    },
  });
}
