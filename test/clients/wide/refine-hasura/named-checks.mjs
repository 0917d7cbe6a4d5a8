import { client, place } from "../checks.mjs";
import { run } from "./common.mjs";

await run(client("@refinedev/hasura", import.meta.url, "@refinedev/hasura, graphql-default"), {
  namingConvention: "graphql-default",
  url: place.namedUrl,
  socketUrl: place.namedSocketUrl,
  director: "director",
  exceptions: {
    nestedOrder: { exception: "it calls toUpperCase on the nested order before it sends anything" },
    liveOrder: {
      exception: "its subscription names order_by and directors_order_by, which this naming convention does not have",
    },
  },
});
