import { useToken } from "../client/request.ts";
import { refreshAll } from "../state/refresh.ts";
import { connection, refusal } from "../state/world.ts";

/** Asks for the control token or that of a team, which stays in the memory of this page. */
export function Login() {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    useToken(String(data.get("token")).trim());
    refusal.value = undefined;
    connection.value = "connecting";
    refreshAll();
  };
  return (
    <main class="login">
      <form onSubmit={onSubmit} class="panel">
        <h1>standin</h1>
        <p>
          This server requires its control token, or the token of a team. The page keeps it until it is closed
          or reloaded.
        </p>
        {refusal.value !== undefined && (
          <p role="alert">
            {refusal.value}. The page of a world is at <code>/w/&lt;name&gt;/</code>.
          </p>
        )}
        <label for="token">Control token</label>
        <input id="token" name="token" type="password" autocomplete="off" required />
        <button type="submit" class="primary">
          Continue
        </button>
      </form>
    </main>
  );
}
