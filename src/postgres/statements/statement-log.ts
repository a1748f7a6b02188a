import type { SimTime } from "../../kernel/time.ts";

/** A statement of a client, and how it ended. Neither values of parameters nor rows are in it. */
export type LoggedStatement = {
  /** End of the statement. */
  readonly at: SimTime;
  readonly endpointId: string;
  readonly database: string;
  readonly role: string;
  /** Text that the client sent, without passwords, cut after `MAX_STATEMENT_BYTES`. */
  readonly text: string;
  /** The number of parameters. */
  readonly parameters: number;
  readonly outcome: StatementOutcome;
};

/** `done`: the command tag of Postgres, such as `INSERT 0 1`. `lost`: no answer reached the client. */
export type StatementOutcome =
  | { readonly done: string }
  | { readonly failed: { readonly code: string; readonly message: string } }
  | { readonly lost: string };

/** The connection that a statement belongs to. */
export type StatementSource = Pick<LoggedStatement, "endpointId" | "database" | "role">;

const MAX_STATEMENTS = 2_000;
export const MAX_STATEMENT_BYTES = 4_096;
const MAX_MESSAGE_CHARACTERS = 1_000;

/** The newest statements of the clients of all worlds of a server, in memory. */
export class StatementLog {
  #statements: { readonly world: string; readonly statement: LoggedStatement }[] = [];

  add(world: string, statement: LoggedStatement): void {
    const text = withoutPasswords(statement.text);
    const outcome = outcomeOf(statement, text !== statement.text);
    this.#statements.push({ world, statement: { ...statement, text, outcome } });
    // Amortized: cut only when the array has doubled.
    if (this.#statements.length >= 2 * MAX_STATEMENTS)
      this.#statements = this.#statements.slice(-MAX_STATEMENTS);
  }

  /** The statements of a world, in the order in which they ended. */
  of(world: string): readonly LoggedStatement[] {
    return this.#statements
      .slice(-MAX_STATEMENTS)
      .flatMap((logged) => (logged.world === world ? [logged.statement] : []));
  }
}

/** Longer texts are cut, so that a log has a bounded size. */
export function cutStatement(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= MAX_STATEMENT_BYTES
    ? text
    : `${bytes.subarray(0, MAX_STATEMENT_BYTES).toString("utf8")}…`;
}

const CHANGES_ROLE = /\b(?:create|alter)\s+(?:role|user|group)\b/i;
/** The password of a role. It may have any quotes, or a form that Postgres rejects, so the statement is cut there. */
const PASSWORD_OF_ROLE = /(\bpassword\b)(?!\s+null\b).*$/is;
/** A literal, or a name, after the word `password`. The statement is cut there as well. */
const PASSWORD_LITERAL = /(\bpassword[\s=]+)(?:[eu]&?)?(?:['"]|\$(?!\d)).*$/is;
/** Parameters of the statement are no passwords. */
const PASSWORD_IN_TEXT = /(\bpassword\s*=\s*)(?!\$\d+(?:[\s,;)]|$))[^\s'"]+/gi;
const PASSWORD_OF_URI = /(:\/\/[^\s:/@]*:)[^\s@/]+@/g;
const NAMES_SUBSCRIPTION = /\bsubscription\b/i;
/** A connection string has too many forms to find its password, so the statement is cut there. */
const CONNECTION_OF_SUBSCRIPTION = /(\bconnection\b).*$/is;
/** The text of a statement that Postgres quotes where it does not understand it. */
const QUOTED_IN_MESSAGE = /".*"/s;

function withoutPasswords(text: string): string {
  const ofRoles = CHANGES_ROLE.test(text) ? text.replace(PASSWORD_OF_ROLE, "$1 '***' …") : text;
  const ofSubscriptions = NAMES_SUBSCRIPTION.test(ofRoles)
    ? ofRoles.replace(CONNECTION_OF_SUBSCRIPTION, "$1 '***' …")
    : ofRoles;
  return ofSubscriptions
    .replace(PASSWORD_LITERAL, "$1'***' …")
    .replaceAll(PASSWORD_IN_TEXT, "$1***")
    .replaceAll(PASSWORD_OF_URI, "$1***@");
}

/** `hasPassword`: the statement had one, which the error may quote. */
function outcomeOf({ outcome }: LoggedStatement, hasPassword: boolean): StatementOutcome {
  if (!("failed" in outcome)) return outcome;
  const { code, message } = outcome.failed;
  const shown = hasPassword ? message.replace(QUOTED_IN_MESSAGE, '"***"') : message;
  return { failed: { code, message: shown.slice(0, MAX_MESSAGE_CHARACTERS) } };
}
