// @ts-nocheck
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  casing: "snake_case",
  schema: "./src/store/tables/schema.ts",
  out: "./migrations",
});
