import { useSignal } from "@preact/signals";
import { control, get } from "../client/request.ts";
import type { ApiKey } from "../client/types.ts";
import { CopyText } from "../parts/copy-text.tsx";
import { ask } from "../parts/dialog.tsx";
import { formatInstant } from "../parts/format.ts";
import { useReading } from "../state/reading.ts";
import { accounts, changes } from "../state/world.ts";

export function Keys() {
  const created = useSignal<{ readonly name: string; readonly key: string } | undefined>(undefined);
  const keys = useReading("keys", () => get<{ api_keys: readonly ApiKey[] }>("/api_keys"));
  const create = () =>
    ask({
      title: "Create API key",
      fields: [
        { name: "key_name", label: "Name", placeholder: "ci", isRequired: true },
        ...(accounts.value.length > 1
          ? [
              {
                name: "account_id",
                label: "Account",
                choices: accounts.value.map(({ id, name }) => ({ value: id, label: name })),
              },
            ]
          : []),
      ],
      action: "Create key",
      onSubmit: async (values) => {
        created.value = await control<{ name: string; key: string }>("POST", "/api_keys", values);
        changes.value += 1;
      },
    });
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={create}>
          Create API key
        </button>
      </div>
      {created.value && (
        <div class="once" role="status">
          <p>
            The key <b>{created.value.name}</b> is shown only now:
          </p>
          <CopyText text={created.value.key} label="API key" />
          <button
            type="button"
            class="quiet"
            onClick={() => {
              created.value = undefined;
            }}
          >
            Done
          </button>
        </div>
      )}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">
                Id
              </th>
              <th scope="col">Name</th>
              <th scope="col">Created</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span class="hidden">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.value?.api_keys.map(({ id, name, created_at, last_used_at }) => (
              <tr key={id}>
                <td class="number">{id}</td>
                <td>{name}</td>
                <td>
                  <time>{formatInstant(created_at)}</time>
                </td>
                <td>{last_used_at === null ? "never" : <time>{formatInstant(last_used_at)}</time>}</td>
                <td>
                  <button type="button" class="quiet danger" onClick={() => revoke(id, name)}>
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function revoke(id: number, name: string): void {
  ask({
    title: `Revoke ${name}?`,
    text: "Requests with this key get 401 from now on.",
    action: "Revoke",
    isDangerous: true,
    onSubmit: async () => {
      await control("DELETE", `/api_keys/${id}`);
      changes.value += 1;
    },
  });
}
