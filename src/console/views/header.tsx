import { isReadOnly, showsRun } from "../client/mode.ts";
import { WORLD_NAME } from "../client/request.ts";
import { advance, askForAdvance, setClock } from "../state/actions.ts";
import { formatCountdown, formatDate, formatTime } from "../state/format.ts";
import { canChange, clock, connection, now } from "../state/world.ts";
import { WorldPicker } from "./world-picker.tsx";

const FACTORS = ["60x", "600x", "3600x"];

export function Header() {
  return (
    <header class="top">
      <h1>
        <a class="brand" href="/" aria-label="standin: the default world">
          <img src="/_console/icon.svg" alt="" width="24" height="24" />
          standin
        </a>
      </h1>
      <WorldPicker current={WORLD_NAME} />
      <div class="clock">
        <ClockFace />
        {!showsRun && <ModeSelect />}
      </div>
      {!showsRun && <ClockButtons />}
      <ConnectionState />
    </header>
  );
}

function ClockButtons() {
  const reading = clock.value;
  const isBusy = connection.value !== "live" || reading === undefined;
  return (
    <fieldset class="segments" disabled={isBusy || !canChange.value}>
      <legend class="hidden">Advance the clock</legend>
      <button type="button" onClick={() => advance({ by: "1m" })}>
        +1 min
      </button>
      <button type="button" onClick={() => advance({ by: "5m" })}>
        +5 min
      </button>
      <button
        type="button"
        onClick={() => advance({ next: true })}
        disabled={reading?.next_due === null}
        title="Advance to what is due next"
      >
        Next event <NextDue />
      </button>
      <button type="button" onClick={askForAdvance} aria-label="Advance by or to …">
        …
      </button>
    </fieldset>
  );
}

function ClockFace() {
  const instant = now.value;
  if (instant === undefined) return <time class="face">–</time>;
  const shown = Math.floor(instant / 1_000) * 1_000;
  return (
    <time class="face" dateTime={new Date(shown).toISOString()}>
      <span class="date">{formatDate(shown)}</span> {formatTime(shown)}
      <span class="zone"> UTC</span>
    </time>
  );
}

function NextDue() {
  const due = clock.value?.next_due;
  if (due === null || due === undefined || now.value === undefined) return null;
  return <small>in {formatCountdown(Date.parse(due) - now.value)}</small>;
}

function ModeSelect() {
  const reading = clock.value;
  const mode = reading?.mode === "scaled" ? `${reading.factor}x` : (reading?.mode ?? "manual");
  const choices = [...new Set(["manual", "real", ...FACTORS, mode])];
  return (
    <label class="mode">
      <span class="hidden">Clock mode</span>
      <select value={mode} disabled={isReadOnly} onChange={(event) => setClock(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice === "manual"
              ? "paused (manual)"
              : choice === "real"
                ? "real time"
                : `plays at ${choice.replace("x", "×")}`}
          </option>
        ))}
      </select>
    </label>
  );
}

function ConnectionState() {
  const texts = {
    connecting: "connecting",
    live: isReadOnly ? "live, read-only" : "live",
    unreachable: "no server",
    needs_token: "token needed",
  };
  return (
    <p class={`connection ${connection.value}`} role="status">
      <span class="dot" aria-hidden="true" />
      {texts[connection.value]}
    </p>
  );
}
