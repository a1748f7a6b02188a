import { get, hrefOfWorld } from "../client/request.ts";
import type { WorldList } from "../client/types.ts";
import { useReading } from "../state/reading.ts";

export function WorldPicker({ current }: { readonly current: string }) {
  const worlds = useReading("worlds", () => get<WorldList>("/worlds"));
  const names = worlds.value?.worlds.map(({ name }) => name) ?? [];
  return (
    <label class="world">
      <span class="hidden">World</span>
      <select
        value={current}
        onChange={(event) => {
          location.href = hrefOfWorld(event.currentTarget.value);
        }}
      >
        {[...new Set([current, ...names])].map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
