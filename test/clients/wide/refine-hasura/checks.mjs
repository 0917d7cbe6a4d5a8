import { client, place } from "../checks.mjs";
import { run } from "./common.mjs";

await run(client("@refinedev/hasura", import.meta.url), {
  namingConvention: "hasura-default",
  url: place.graphqlUrl,
  socketUrl: place.socketUrl,
  director: "director",
});
