#!/usr/bin/env node
import { loadCommand } from "./load-command.ts";

await loadCommand().runCommand();
