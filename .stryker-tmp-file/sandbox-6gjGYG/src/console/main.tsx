// @ts-nocheck
import { render } from "preact";
import { WORLD_NAME } from "./client/request.ts";
import { begin } from "./state/refresh.ts";
import { beginRun } from "./state/run.ts";
import { App } from "./views/app.tsx";

document.title = WORLD_NAME === "default" ? "standin" : `${WORLD_NAME} – standin`;
begin();
beginRun();
const element = document.getElementById("console");
if (element !== null) render(<App />, element);
