/** `curl -N -H 'Accept: multipart/mixed' /v1/graphql -d '{"query":"subscription { album { title } }"}'`: live queries as
 *  the parts of one response, as Apollo Client and urql take them. @rule G-MP-1 … G-MP-4 */
import { definePlugin } from "../../core/index.ts";
import { streamsOf } from "./graphql-stream.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { answerStream, type StreamFormat } from "./result-stream.ts";
import { dbTxEnd } from "../settings.ts";

/** Not for answers in pieces, which are not served. */
const PARTS_FIRST = /^multipart\/mixed(?![^,]*(?:defer|incremental)spec=)\s*(?:[;,]|$)/i;
const ENCLOSED = /^[^,]*subscriptionspec=/i;

/** Cannot be part of JSON: its strings have no line breaks, and no token begins so. */
const BOUNDARY = "\r\n--graphql";
const PART = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n";

/** Apollo's protocol: each response is the `payload` of a part, and an empty part shows that the server is alive. */
const enclosed: StreamFormat<string> = {
  headers: [["Content-Type", 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"']],
  start: BOUNDARY,
  encode: (payload) => `${PART}{"payload":${payload}}${BOUNDARY}`,
  beat: `${PART}{}${BOUNDARY}`,
  end: "--\r\n",
};

/** That of incremental delivery: parts are responses, and say whether there are more. The header of the next part is
 *  sent at once, so that blanks before its JSON show that the server is alive. */
const bare: StreamFormat<string> = {
  headers: [["Content-Type", 'multipart/mixed;boundary="graphql"']],
  start: `${BOUNDARY}${PART}`,
  encode: (payload) => `${payload.slice(0, -1)},"hasNext":true}${BOUNDARY}${PART}`,
  beat: " ",
  end: `{"hasNext":false}${BOUNDARY}--\r\n`,
};

export const multipart = definePlugin({
  name: "multipart",
  settings: [dbTxEnd],
  requires: ["live-queries"],
  before: ["graphql", "rest"],
  apply: (_hooks, context) => {
    const heartbeat = createHeartbeat();
    context.onClose(heartbeat.close);
    streamsOf(context).add({
      accepts: PARTS_FIRST,
      answer: (exchange, start) =>
        answerStream(
          { heartbeat, watchUnread: context.watchUnread },
          ENCLOSED.test(exchange.header("accept") ?? "") ? enclosed : bare,
          (parts) =>
            start({
              result: (payload) => parts.offer(payload),
              get isSlow() {
                return parts.isSlow;
              },
              end: () => parts.end(),
            }),
        ),
    });
  },
});
