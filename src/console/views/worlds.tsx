import { control, get, WORLD_NAME } from "../client/request.ts";
import type { Snapshot, WorldInfo } from "../client/types.ts";
import { ask } from "../parts/dialog.tsx";
import { formatBytes, formatInstant } from "../parts/format.ts";
import { notify } from "../state/notices.ts";
import { useReading } from "../state/reading.ts";
import { refreshAll } from "../state/refresh.ts";
import { at, changes } from "../state/world.ts";
import { hrefOfWorld } from "./world-picker.tsx";

/** Asks for a name, and makes a world that continues from an instant of this one. */
export function forkHere(instant: number | undefined): void {
  ask({
    title: instant === undefined ? "Fork this world" : `Fork at ${formatInstant(Math.round(instant))}`,
    text: "The fork has the same objects and history up to there, and a clock of its own.",
    fields: [{ name: "name", label: "Name of the new world", placeholder: "experiment", isRequired: true }],
    action: "Fork",
    onSubmit: async ({ name = "" }) => {
      await control("POST", "/worlds", {
        name,
        from: WORLD_NAME,
        clock: "manual",
        ...(instant === undefined ? {} : { at: new Date(instant).toISOString() }),
      });
      changes.value += 1;
      window.open(hrefOfWorld(name), "_blank", "noopener");
      notify("done", `World ${name} is ready at ${hrefOfWorld(name)}.`);
    },
  });
}

export function Worlds() {
  const worlds = useReading("world list", () => get<{ worlds: readonly WorldInfo[] }>("/worlds"));
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => forkHere(at.value)}>
          Fork this world
        </button>
      </div>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">World</th>
              <th scope="col">Its clock</th>
              <th scope="col" class="number">
                Events
              </th>
              <th scope="col" class="number">
                Size
              </th>
              <th scope="col">
                <span class="hidden">Delete</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {worlds.value?.worlds.map(({ name, now, seq, size_bytes }) => (
              <tr key={name}>
                <td>{name === WORLD_NAME ? <b>{name}</b> : <a href={hrefOfWorld(name)}>{name}</a>}</td>
                <td>
                  <time>{formatInstant(now)}</time>
                </td>
                <td class="number">{seq}</td>
                <td class="number">{formatBytes(size_bytes)}</td>
                <td>
                  {name !== "default" && name !== WORLD_NAME && (
                    <button type="button" class="quiet danger" onClick={() => deleteWorld(name)}>
                      Delete
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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
  const snapshots = useReading("snapshots", () => get<{ snapshots: readonly Snapshot[] }>("/snapshots"));
  const list = snapshots.value?.snapshots ?? [];
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={takeSnapshot}>
          Take snapshot
        </button>
      </div>
      {snapshots.value !== undefined && list.length === 0 ? (
        <p class="empty">No snapshots. A snapshot is the whole world with its clock, to come back to.</p>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Snapshot</th>
                <th scope="col">World's clock</th>
                <th scope="col" class="number">
                  Events
                </th>
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col">
                  <span class="hidden">Restore</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map(({ name, kind, now, seq, size_bytes }) => (
                <tr key={name}>
                  <td>
                    {name} {kind !== "manual" && <small>{kind}</small>}
                  </td>
                  <td>
                    <time>{formatInstant(now)}</time>
                  </td>
                  <td class="number">{seq}</td>
                  <td class="number">{formatBytes(size_bytes)}</td>
                  <td>
                    <button type="button" class="quiet" onClick={() => restore(name)}>
                      Restore
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
