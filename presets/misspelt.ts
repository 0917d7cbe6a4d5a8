/** Variables that look like settings and are none: misspelt, or of the two engines and not served here. */
import { levenshtein } from "../core/index.ts";
import type { Environment } from "./environment.ts";
import { OF_TOOLS, unserved } from "./unserved.ts";

const ENGINE = /^(?:PGRST|HASURA_GRAPHQL)_/;

/** Shorter names are near to too much that has nothing to do with us. */
const MIN_LENGTH = 7;
const MAX_CHANGES = 2;

/** True of every candidate that so few changes lead to: one of its three parts is untouched then. Comparing every name
 *  with every other one takes long. */
const mayBeNear = (name: string, candidate: string): boolean => {
  const third = Math.floor(candidate.length / (MAX_CHANGES + 1));
  return (
    name.includes(candidate.slice(0, third)) ||
    name.includes(candidate.slice(third, 2 * third)) ||
    name.includes(candidate.slice(2 * third))
  );
};

const nearest = (name: string, known: Iterable<string>): string | undefined => {
  let found: string | undefined;
  let least = MAX_CHANGES + 1;
  for (const candidate of known) {
    if (candidate.length < MIN_LENGTH || Math.abs(candidate.length - name.length) > MAX_CHANGES) continue;
    if (!mayBeNear(name, candidate)) continue;
    const changes = levenshtein([...name], [...candidate]);
    if (changes < least) [least, found] = [changes, candidate];
  }
  return found;
};

export interface Stray {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly meant?: string;
  /** A line for whoever starts the server. */
  readonly text: string;
}

/** `known`: names of all variables that are read. @rule C-SET-1 C-SET-2 */
export const strayVariables = (environment: Environment, known: ReadonlySet<string>): readonly Stray[] =>
  Object.keys(environment)
    .filter(
      (name) => name.length >= MIN_LENGTH && !known.has(name) && !OF_TOOLS.has(name) && !/APP_SETTINGS_/.test(name),
    )
    .sort()
    .flatMap((name): readonly Stray[] => {
      const advice = unserved.get(name);
      if (advice !== undefined) return [{ name, text: `${name} is not served: ${advice}` }];
      const meant = nearest(name, known);
      if (meant !== undefined && (environment[meant] === undefined || ENGINE.test(name)))
        return [{ name, meant, text: `${name} is not a setting; did you mean ${meant}?` }];
      return ENGINE.test(name) ? [{ name, text: `${name} is not served: see docs/reference/settings.md` }] : [];
    });
