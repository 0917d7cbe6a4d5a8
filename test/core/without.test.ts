/** Every plugin of `fullCompat` can be left out: the preset without it starts, or its error names the plugins
 *  to remove with it. The files without-rest.test.ts, without-graphql.test.ts and without-callers.test.ts request the names that are then
 *  unknown. */
import { afterEach, describe, expect, test } from "vitest";
import { compose, RelApiError, relApi, without, type Plugin, type RelApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { withDependents } from "./left-out.ts";

/** No server listens there, so each error was found without a database. */
const options = { databaseUrl: "postgres://nobody@127.0.0.1:1/none", logLevel: "silent" } as const;

/** No preset starts without the plugin that connects (X-CON-1). */
const plugins = fullCompat(options).plugins.filter(({ connector }) => connector === undefined);

const startedApis: RelApi[] = [];
afterEach(async () => {
  for (const api of startedApis.splice(0)) await api.close();
});

const startWithout = (names: readonly string[]): void => {
  startedApis.push(relApi(compose(fullCompat(options), ...names.map(without))));
};

const thrownBy = (run: () => void): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe.each(plugins.map((plugin): [string, Plugin] => [plugin.name, plugin]))("without %s", (name) => {
  const [, ...dependents] = withDependents(name);

  test("X-START-1 the preset starts once the plugins that require it are removed too", () => {
    expect(() => startWithout([name, ...dependents])).not.toThrow();
  });

  test.skipIf(dependents.length === 0)(
    "X-START-1 the error names one plugin after the other that requires it, with the remedy",
    () => {
      const removedNames = [name];
      for (let round = 0; round < plugins.length; round++) {
        const error = thrownBy(() => startWithout(removedNames));
        if (error === undefined) break;
        if (!(error instanceof RelApiError)) throw error;
        const [, dependentName = "", removedName = ""] =
          /^plugin "([^"]+)" requires "([^"]+)", which part \d+ of the preset removed: remove both or keep both$/.exec(
            error.message,
          ) ?? [];
        expect(removedNames, error.message).toContain(removedName);
        removedNames.push(dependentName);
      }
      expect([...removedNames].sort()).toEqual([name, ...dependents].sort());
    },
  );
});
