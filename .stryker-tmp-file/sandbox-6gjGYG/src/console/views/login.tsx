// @ts-nocheck
import { useToken } from "../client/request.ts";
import { connection } from "../state/world.ts";

/** Asks for the control token, which stays in the memory of this page. */
export function Login() {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    useToken(String(data.get("token")).trim());
    connection.value = "connecting";
  };
  return (
    <main class="login">
      <form onSubmit={onSubmit} class="panel">
        <h1>standin</h1>
        <p>This server requires its control token. The page keeps it until it is closed or reloaded.</p>
        <label for="token">Control token</label>
        <input id="token" name="token" type="password" autocomplete="off" required />
        <button type="submit" class="primary">
          Continue
        </button>
      </form>
    </main>
  );
}
