/** An event trigger of the superuser in every database, which calls a function of `pg_catalog`. */
export type OwnEventTrigger = {
  readonly name: string;
  readonly event: "ddl_command_start" | "ddl_command_end";
  readonly tags: readonly string[];
  readonly procedure: string;
};

/** The names of all of them: none runs code of clients. */
export const OWN_EVENT_TRIGGERS = {
  publicationStart: "standin_publication_start",
  publicationEnd: "standin_publication_end",
  subscriptionStart: "standin_subscription_start",
  subscriptionEnd: "standin_subscription_end",
} as const;

/** Statements that create it so that clients can neither change nor drop it. */
export function createEventTrigger({ name, event, tags, procedure }: OwnEventTrigger): string[] {
  return [
    `CREATE EVENT TRIGGER ${name} ON ${event} WHEN TAG IN (${tags.map((tag) => `'${tag}'`).join(", ")})
     EXECUTE FUNCTION pg_catalog.${procedure}()`,
    // Also in sessions of subscriptions, in which others do not fire.
    `ALTER EVENT TRIGGER ${name} ENABLE ALWAYS`,
    // Clients that dump the database do not dump what belongs to an extension of Postgres itself.
    `ALTER EXTENSION plpgsql ADD EVENT TRIGGER ${name}`,
  ];
}

/** In single-user mode, a statement ends with its line. */
export function onOneLine(statement: string): string {
  return statement.replaceAll(/\s*\n\s*/g, " ");
}
