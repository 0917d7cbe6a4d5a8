/** The checks of every client of live queries, for any protocol. */
import { equals, eventually, has } from "./checks.mjs";

const YEAR = "subscription ($id: Int!) { films_by_pk(id: $id) { year } }";

/** `follow` starts an operation, and returns its results and a function that stops it. `setYear` changes a film. */
export const checkLiveQueries = async (check, { follow, setYear }) => {
  await check("a live query, and its changes", async () => {
    const { results, stop } = follow({ query: YEAR, variables: { id: 1 } });
    await eventually(() => has(results, [{ data: { films_by_pk: { year: 1962 } } }]));
    await setYear(1, 1963);
    await eventually(() => has(results.slice(1), [{ data: { films_by_pk: { year: 1963 } } }]));
    stop();
  });
  await check("nothing more after the end", async () => {
    const { results, stop } = follow({ query: YEAR, variables: { id: 2 } });
    await eventually(() => equals(results.length, 1));
    stop();
    await setYear(2, 1986);
    await new Promise((resolve) => setTimeout(resolve, 400));
    equals(results.length, 1);
  });
  await check("several on one connection, each its own", async () => {
    const all = [3, 4, 5].map((id) => follow({ query: YEAR, variables: { id } }));
    await eventually(() =>
      equals(
        all.map(({ results }) => results.length),
        [1, 1, 1],
      ),
    );
    await setYear(4, 1955);
    await eventually(() =>
      equals(
        all.map(({ results }) => results.at(-1).data.films_by_pk.year),
        [1950, 1955, 1993],
      ),
    );
    for (const { stop } of all) stop();
  });
};
