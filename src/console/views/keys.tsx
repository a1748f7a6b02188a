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

type CreatedKey = { readonly name: string; readonly key: string };

export function Keys() {
  const created = useSignal<CreatedKey | undefined>(undefined);
  const keys = useReading("keys", () => get<KeyList>("/api_keys"));
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          onClick={() =>
            create((key) => {
              created.value = key;
            })
          }
          disabled={isReadOnly}
        >
          Create API key
        </button>
      </div>
      {created.value && (
        <ShownOnce
          created={created.value}
          onDone={() => {
            created.value = undefined;
          }}
        />
      )}
      <KeyTable keys={keys.value?.api_keys ?? []} />
    </>
  );
}

function ShownOnce({ created, onDone }: { readonly created: CreatedKey; readonly onDone: () => void }) {
  return (
    <div class="once" role="status">
      <p>
        The key <b>{created.name}</b> is shown only now:
      </p>
      <CopyText text={created.key} label="API key" />
      <button type="button" class="quiet" onClick={onDone}>
        Done
      </button>
    </div>
  );
}

function KeyTable({ keys }: { readonly keys: KeyList["api_keys"] }) {
  return (
    <Table
      rows={keys}
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
            <button type="button" class="quiet danger" disabled={isReadOnly} onClick={() => revoke(id, name)}>
              Revoke
            </button>
          ),
        },
      ]}
    />
  );
}

function create(onCreated: (key: CreatedKey) => void): void {
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
      onCreated(await control<NewKey>("POST", "/api_keys", values));
      changes.value += 1;
    },
  });
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
