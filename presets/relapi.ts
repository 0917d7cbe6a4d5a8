/**
 * The exports of `relapi` for applications and plugins. They include the types of core with the members that surfaces
 * add, such as `api.rest`. At run time only core is loaded.
 */
export type * from "../core/index.ts";
export {
  // presets and their options
  CallError,
  compose,
  optionsFromEnvironment,
  relApi,
  Stage,
  VERSION,
  without,
  // definitions for plugins and their settings
  defineHook,
  defineLimit,
  defineOption,
  definePlugin,
  defineService,
  defineSetting,
  defineSignal,
  settingKinds,
  settingRows,
  settingsOf,
  // functions that make errors
  bodyTooLarge,
  faultFacts,
  isRelApiError,
  limitExceeded,
  missingSessionVariable,
  presetError,
  RelApiError,
  tokenRefused,
  urlTooLong,
  // requests and responses
  bearerChallenge,
  createOriginPolicies,
  fieldsLogger,
  byteOrderMarkBytes,
  requestSignal,
  sessionOf,
  transactionSignal,
  // functions of the model
  baseTypeOf,
  columnOf,
  matchesType,
  nameKey,
  closestNames,
  relationOf,
  routinesOf,
  sameName,
  visibilityOf,
  // functions of plans
  compareColumn,
  runSliced,
  mapPlan,
  membersOf,
  memoize,
  restrictRows,
  visitPlan,
  explainProgram,
  // functions that build SQL
  boundOf,
  catalogText,
  empty,
  ident,
  integer,
  join,
  literal,
  sql,
  toStatement,
  value,
  // functions for JSON
  arrayLiteral,
  holdsRawNumber,
  isNestedDeeper,
  isRawNumber,
  numberText,
  parseJson,
  writeJson,
} from "../core/index.ts";
export type { ClaimsReading, Grant, TokenFailure, TokenRules, VerifiedToken } from "../plugins/auth/api.ts";
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
