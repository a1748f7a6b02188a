import { observe, type Place } from "./place.ts";

const ROW_EVENTS = ["insert", "update", "delete"] as const;
const EVENTS = [...ROW_EVENTS, "truncate"] as const;

/** Each trigger is on a table of its own, so that no trigger keeps another one from running. */
function trigger(name: string, clause: string, options: { readonly after?: string } = {}): Place {
  const id = name.replaceAll(/\W+/g, "_");
  return {
    name,
    sql: `create table public.${id} (id int primary key, word text);
      insert into public.${id} values (1, 'one'), (2, 'two');
      create function adversary.${id}() returns trigger language plpgsql as $f$ begin
        perform ${observe(name)}; return null; end $f$;
      ${clause.replaceAll("TRIGGER", id)};
      ${(options.after ?? "").replaceAll("TRIGGER", id)}`,
  };
}

const plain = ["before", "after"].flatMap((moment) =>
  EVENTS.flatMap((event) => {
    const levels = event === "truncate" ? ["statement"] : ["row", "statement"];
    return levels.map((level) =>
      trigger(
        `trigger ${moment} ${event} for each ${level}`,
        `create trigger t ${moment} ${event} on public.TRIGGER for each ${level} execute function adversary.TRIGGER()`,
      ),
    );
  }),
);

const enabled = ["always", "replica"].flatMap((state) =>
  EVENTS.map((event) =>
    trigger(
      `trigger on ${event} enabled ${state}`,
      `create trigger t after ${event} on public.TRIGGER for each statement execute function adversary.TRIGGER()`,
      { after: `alter table public.TRIGGER enable ${state} trigger t;` },
    ),
  ),
);

const deferred = ROW_EVENTS.map((event) =>
  trigger(
    `deferred constraint trigger on ${event}`,
    `create constraint trigger t after ${event} on public.TRIGGER deferrable initially deferred
       for each row execute function adversary.TRIGGER()`,
  ),
);

export const TRIGGERS: readonly Place[] = [
  ...plain,
  ...enabled,
  ...deferred,
  trigger(
    "trigger with a condition",
    `create trigger t before update on public.TRIGGER for each row
       when (${observe("condition of a trigger")}) execute function adversary.TRIGGER()`,
  ),
  trigger(
    "trigger with transition tables",
    `create trigger t after delete on public.TRIGGER referencing old table as deleted for each statement
       execute function adversary.TRIGGER()`,
  ),
  trigger(
    "trigger instead of a view's insert",
    `create view public.TRIGGER_view as select * from public.TRIGGER;
     create trigger t instead of insert on public.TRIGGER_view for each row execute function adversary.TRIGGER()`,
  ),
  trigger(
    "trigger of a partitioned table",
    `create table public.TRIGGER_parts (id int) partition by range (id);
     create table public.TRIGGER_part partition of public.TRIGGER_parts default;
     create trigger t after delete or truncate on public.TRIGGER_part for each statement
       execute function adversary.TRIGGER()`,
  ),
  trigger(
    "trigger behind a foreign key",
    `create table public.TRIGGER_child (id int references public.TRIGGER on delete cascade on update cascade);
     insert into public.TRIGGER_child values (1);
     create trigger t before delete or update on public.TRIGGER_child for each row
       execute function adversary.TRIGGER();
     create trigger u after truncate on public.TRIGGER_child execute function adversary.TRIGGER()`,
  ),
];
