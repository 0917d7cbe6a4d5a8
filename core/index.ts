/** The public API. Plugins and presets import from here alone (compile functions and catalog queries also use `core/sql/fragment.ts`). */
export { relApi, type RelApi } from "./relapi.ts";
export { compose, without, type Preset, type PresetPart } from "./preset.ts";
export * from "./plugin.ts";
export * from "./hooks.ts";
export * from "./options.ts";
export * from "./errors.ts";
export * from "./session.ts";
export * from "./rest.ts";
export * from "./gql.ts";
export * from "./gql-source.ts";
export * from "./http/exchange.ts";
export * from "./model/model.ts";
export * from "./model/privileges.ts";
export * from "./plan/plan.ts";
export { visitPlan, mapPlan } from "./plan/walk.ts";
export { planKey } from "./plan/key.ts";
export { sql, ident, value, slot, join, literal, integer, empty, catalogText, toStatement, type Sql, type Statement, type Slot, type BoundValue } from "./sql/fragment.ts";
export type { Program, ProgramStatement } from "./sql/program.ts";
