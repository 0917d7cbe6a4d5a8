import { QueryClient, QueryObserver } from "@tanstack/query-core";
import { EventSource } from "eventsource";
import { createClient } from "graphql-ws";
import { createGraphqlPatchApplier, createRestPatchApplier } from "../../../../dist/plugins/live/patches/client.js";
import { WebSocket } from "ws";
import { client as createChecks, equals, eventually, has, place } from "../checks.mjs";

const { check, report } = createChecks("@tanstack/query-core", import.meta.url);
const headers = { "x-hasura-admin-secret": place.secret };
const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity, retry: false } } });
queries.mount();
const setYear = async (id, year) => {
  const response = await fetch(`${place.url}/api/films?id=eq.${id}`, {
    method: "PATCH",
    headers: { "x-session-admin-secret": place.secret, "content-type": "application/json" },
    body: JSON.stringify({ year }),
  });
  equals(response.status, 204);
};
/** The states that a component with the query shows. */
const observed = (queryKey, queryFn) => {
  const states = [];
  const stop = new QueryObserver(queries, { queryKey, queryFn }).subscribe(({ data }) => {
    if (data !== undefined && data !== states.at(-1)) states.push(data);
  });
  return { states, stop };
};

const LIST = `${place.url}/api/films?select=id,title,year&order=id`;
/** A browser cannot set headers on this request, so the caller is the anonymous one. */
const follow = (queryKey, { url, fetch: eventFetch = fetch }) => {
  const events = [];
  const source = new EventSource(url, { fetch: eventFetch });
  const rows = createRestPatchApplier();
  source.onmessage = ({ data }) => {
    events.push(JSON.parse(data));
    queries.setQueryData(queryKey, rows(data));
  };
  return { events, close: () => source.close() };
};

await check("a query, then the same one live: EventSource and setQueryData", async () => {
  const { states, stop } = observed(["films"], async () => (await fetch(LIST)).json());
  await eventually(() => equals(states.length, 1));
  const { events, close } = follow(["films"], { url: `${LIST}&live=patch` });
  await eventually(() => equals(events.length, 1));
  await setYear(3, 1951);
  await eventually(() => equals(states.at(-1)[2].year, 1951));
  equals(events.at(-1), { version: 2, patch: [{ op: "replace", path: "/2/year", value: 1951 }] });
  equals(states.at(-1), await (await fetch(LIST)).json());
  // Unchanged rows are the same objects as before.
  equals(states.at(-1)[0] === states.at(-2)[0], true);
  close();
  stop();
});
await check("a lost connection: nothing while nothing has changed, then the whole", async () => {
  const eventIds = [];
  let connection;
  const { events, close } = follow(["again"], {
    url: `${LIST}&id=eq.2&live=patch`,
    fetch: (url, init) => {
      connection = new AbortController();
      eventIds.push(new Headers(init.headers).get("last-event-id"));
      return fetch(url, { ...init, signal: AbortSignal.any([init.signal, connection.signal]) }).catch((error) => {
        throw new TypeError(error.message); // the message of browsers
      });
    },
  });
  await eventually(() => equals(events.length, 1));
  const response = connection;
  response.abort(new TypeError("the network is gone"));
  await eventually(() => equals(eventIds.length, 2), 15_000);
  equals(typeof eventIds[1], "string");
  await new Promise((resolve) => setTimeout(resolve, 400));
  equals(events.length, 1);
  await setYear(2, 1987);
  await eventually(() => has(events, [{ version: 1 }, { version: 1, data: [{ year: 1987 }] }]));
  equals(queries.getQueryData(["again"])[0].year, 1987);
  close();
});
await check("a subscription of GraphQL, with patches", async () => {
  const socket = createClient({ url: place.socketUrl, webSocketImpl: WebSocket, connectionParams: { headers } });
  const events = [];
  const next = createGraphqlPatchApplier();
  const { states, stop } = observed(
    ["socket"],
    () =>
      new Promise((resolve, reject) => {
        socket.subscribe(
          { query: "subscription @live(patch: true) { films(order_by: {id: asc}) { id title year } }" },
          {
            next: (result) => {
              events.push(result);
              const { data } = next(result);
              queries.setQueryData(["socket"], data);
              resolve(data);
            },
            error: reject,
            complete: () => undefined,
          },
        );
      }),
  );
  await eventually(() => equals(states.length, 1));
  await setYear(4, 1955);
  await eventually(() => equals(states.at(-1).films[3].year, 1955));
  equals(events.at(-1).extensions.live.patch, [{ op: "replace", path: "/films/3/year", value: 1955 }]);
  stop();
  await socket.dispose();
});
queries.unmount();
report();
