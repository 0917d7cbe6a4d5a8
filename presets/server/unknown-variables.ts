/**
 * Finds environment variables that look like settings but are misspelt, or are settings of PostgREST or Hasura that
 * this server lacks.
 */
import { closestNames, type Environment } from "../../core/index.ts";
import { OF_TOOLS, unserved } from "./unsupported-settings.ts";

const ENGINE_PREFIX = /^(?:PGRST|HASURA_GRAPHQL)_/;

/** Shorter names resemble too many unrelated ones. */
const MIN_LENGTH = 7;
const MAX_CHANGES = 2;

export interface UnknownVariable {
  readonly name: string;
  /** The setting that was probably intended. */
  readonly meant?: string;
  /** A line for the person who starts the server. */
  readonly text: string;
}

/** Finds such variables. `known` contains the names of all variables that are read. @rule C-SET-1 C-SET-2 */
export const unknownVariables = (environment: Environment, known: ReadonlySet<string>): readonly UnknownVariable[] => {
  const candidates = [...known].filter((name) => name.length >= MIN_LENGTH);
  return Object.keys(environment)
    .filter(
      (name) => name.length >= MIN_LENGTH && !known.has(name) && !OF_TOOLS.has(name) && !/APP_SETTINGS_/.test(name),
    )
    .sort()
    .flatMap((name): readonly UnknownVariable[] => {
      const advice = unserved.get(name);
      if (advice !== undefined) return [{ name, text: `${name} is not served: ${advice}` }];
      const [meant] = closestNames(name, candidates, MAX_CHANGES);
      if (meant !== undefined && (environment[meant] === undefined || ENGINE_PREFIX.test(name)))
        return [{ name, meant, text: `${name} is not a setting; did you mean ${meant}?` }];
      return ENGINE_PREFIX.test(name) ? [{ name, text: `${name} is not served: see docs/reference/settings.md` }] : [];
    });
};
