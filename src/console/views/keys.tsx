import { useSignal } from "@preact/signals";
import { isReadOnly } from "../client/mode.ts";
import { control, get } from "../client/request.ts";
import type { KeyList, NewKey } from "../client/types.ts";
import { CopyText } from "../parts/copy-text.tsx";
import { Instant } from "../parts/instant.tsx";
import { Table } from "../parts/table.tsx";
import { ask } from "../state/question.ts";
import { useReading } from "../state/reading.ts";
import { accounts, changes } from "../state/world.ts";

export function Keys() {
  const created = useSignal<{ readonly name: string; readonly key: string } | undefined>(undefined);
  const keys = useReading("keys", () => get<KeyList>("/api_keys"));
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
        created.value = await control<NewKey>("POST", "/api_keys", values);
        changes.value += 1;
      },
    });
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={create} disabled={isReadOnly}>
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
      <Table
        rows={keys.value?.api_keys ?? []}
        keyOf={({ id }) => id}
        columns={[
          { title: "Id", kind: "number", cell: ({ id }) => id },
          { title: "Name", cell: ({ name }) => name },
          { title: "Created", cell: ({ created_at }) => <Instant at={created_at} /> },
          {
            title: "Last used",
            cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Instant at={last_used_at} />),
          },
          {
            title: "Revoke",
            kind: "actions",
            cell: ({ id, name }) => (
              <button
                type="button"
                class="quiet danger"
                disabled={isReadOnly}
                onClick={() => revoke(id, name)}
              >
                Revoke
              </button>
            ),
          },
        ]}
      />
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
