/**
 * Finds environment variables that look like settings but are misspelt, or are settings of PostgREST or Hasura that
 * this server lacks.
 */
import { findClosestNames, type Environment } from "../../core/index.ts";
import { TOOL_VARIABLES, unsupportedAdvice } from "./unsupported-settings.ts";

const ENGINE_PREFIX = /^(?:PGRST|HASURA_GRAPHQL)_/;

/** The minimum length of names that are compared. Shorter names resemble too many unrelated names. */
const MIN_LENGTH = 7;
const MAX_CHANGES = 2;

export interface UnknownVariable {
  readonly name: string;
  /** The setting that was probably intended. */
  readonly suggestion?: string;
  /** A line for the person who starts the server. */
  readonly message: string;
}

/** Finds unknown variables that look like settings. `knownVariables` contains the names of all variables that are
 *  read. @rule C-SET-1 C-SET-2 */
export const findUnknownVariables = (
  environment: Environment,
  knownVariables: ReadonlySet<string>,
): readonly UnknownVariable[] => {
  const candidates = [...knownVariables].filter((name) => name.length >= MIN_LENGTH);
  return Object.keys(environment)
    .filter(
      (name) =>
        name.length >= MIN_LENGTH &&
        !knownVariables.has(name) &&
        !TOOL_VARIABLES.has(name) &&
        !/APP_SETTINGS_/.test(name),
    )
    .sort()
    .flatMap((name): readonly UnknownVariable[] => {
      const advice = unsupportedAdvice.get(name);
      if (advice !== undefined) return [{ name, message: `${name} is not served: ${advice}` }];
      const [closestName] = findClosestNames(name, candidates, MAX_CHANGES);
      if (closestName !== undefined && (environment[closestName] === undefined || ENGINE_PREFIX.test(name)))
        return [{ name, suggestion: closestName, message: `${name} is not a setting; did you mean ${closestName}?` }];
      return ENGINE_PREFIX.test(name)
        ? [{ name, message: `${name} is not served: see docs/reference/settings.md` }]
        : [];
    });
};
