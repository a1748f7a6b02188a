import { control, hrefOfWorld, WORLD_NAME } from "../client/request.ts";
import { formatInstant } from "./format.ts";
import { notify } from "./notices.ts";
import { ask } from "./question.ts";
import { changes } from "./world.ts";

/** Asks for a name, and makes a world that continues from an instant of this one. */
export function forkHere(instant: number | undefined): void {
  ask({
    title: instant === undefined ? "Fork this world" : `Fork at ${formatInstant(Math.round(instant))}`,
    text: "The fork has the same objects and history up to there, and a clock of its own.",
    fields: [{ name: "name", label: "Name of the new world", placeholder: "experiment", isRequired: true }],
    action: "Fork",
    onSubmit: async ({ name = "" }) => {
      await control("POST", "/worlds", {
        name,
        from: WORLD_NAME,
        clock: "manual",
        ...(instant === undefined ? {} : { at: new Date(instant).toISOString() }),
      });
      changes.value += 1;
      window.open(hrefOfWorld(name), "_blank", "noopener");
      notify("done", `World ${name} is ready at ${hrefOfWorld(name)}.`);
    },
  });
}
