import { showsRun } from "../client/mode.ts";
import { Details } from "../details/details.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { NoticeList } from "../parts/notice-list.tsx";
import { accountReport } from "../state/account-report.ts";
import { agreement } from "../state/shadow.ts";
import { currentTab, type TabName } from "../state/tab.ts";
import { connection, selection } from "../state/world.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { Account } from "./account.tsx";
import { Agreement } from "./agreement.tsx";
import { Faults } from "./faults.tsx";
import { Header } from "./header.tsx";
import { Keys } from "./keys.tsx";
import { Events, Requests } from "./log.tsx";
import { Login } from "./login.tsx";
import { PeriodBar } from "./period-bar.tsx";
import { Run } from "./run.tsx";
import { RunBar } from "./run-bar.tsx";
import { Tree } from "./tree.tsx";
import { WhatIf } from "./what-if.tsx";
import { Snapshots, Worlds } from "./worlds.tsx";

const TABS = {
  run: ["Run", Run],
  requests: ["Requests", Requests],
  events: ["Events", Events],
  faults: ["Faults", Faults],
  whatif: ["What if", WhatIf],
  account: ["Account", Account],
  agreement: ["Agreement", Agreement],
  snapshots: ["Snapshots", Snapshots],
  worlds: ["Worlds", Worlds],
  keys: ["API keys", Keys],
} as const satisfies Record<TabName, unknown>;

export function App() {
  if (connection.value === "needs_token") return <Login />;
  return (
    <>
      <Header />
      {connection.value === "unreachable" && (
        <p class="unreachable" role="alert">
          The server does not respond. This page continues when it is back.
        </p>
      )}
      <RunBar />
      <main class={`columns ${selection.value === undefined ? "" : "with-details"}`}>
        <Tree />
        <div class="middle">
          <Timeline />
          <Tabs />
        </div>
        <Details />
      </main>
      <Dialog />
      <NoticeList />
    </>
  );
}

function isShown(name: TabName): boolean {
  if (name === "run") return showsRun;
  if (name === "account") return accountReport.value !== undefined;
  return name !== "agreement" || agreement.value !== undefined;
}

function Tabs() {
  const current = currentTab;
  const names = (Object.keys(TABS) as TabName[]).filter(isShown);
  const [, View] = TABS[current.value];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = names[(names.indexOf(current.value) + step + names.length) % names.length] ?? "requests";
    current.value = next;
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <section class="tabs panel" aria-label="Log and tools">
      <div role="tablist" onKeyDown={onKeyDown}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-content"
            aria-selected={current.value === name}
            tabIndex={current.value === name ? 0 : -1}
            onClick={() => {
              current.value = name;
            }}
          >
            {TABS[name][0]}
          </button>
        ))}
      </div>
      <PeriodBar />
      <div class="tab-content" id="tab-content" role="tabpanel" aria-labelledby={`tab-${current.value}`}>
        <View />
      </div>
    </section>
  );
}
