// @ts-nocheck
import { dismiss, notices } from "../state/notices.ts";

export function NoticeList() {
  return (
    <div class="notices" aria-live="polite">
      {notices.value.map(({ id, kind, text, action }) => (
        <div key={id} class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
          <p>{text}</p>
          {action && (
            <button
              type="button"
              onClick={() => {
                action.run();
                dismiss(id);
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
