/** `application/x-ndjson`: one line of JSON per row, for programs that process rows one by one. */
import { definePlugin, quoteIdentifier, sql } from "../../../core/index.ts";
import { restHintsService, receiveBodyHook } from "../../rest/api.ts";
import { createLinesReader } from "./lines.ts";

const NDJSON = "application/x-ndjson";

/** Returns rows as lines of JSON: `Accept: application/x-ndjson`. @rule P-NDJ-1 P-NDJ-3 */
export const ndjson = definePlugin({
  name: "ndjson",
  requires: ["rest"],
  apply: (hooks, context) => {
    hooks.compileMedia.for(NDJSON).tap({ name: "ndjson", builtIn: [] }, ({ row, object, rowAlias, returns }) => {
      const isValue = returns === "value" || returns === "values";
      const json = isValue
        ? sql`pg_catalog.to_json(${quoteIdentifier(rowAlias, "value")})`
        : (object ?? sql`pg_catalog.row_to_json(${row})`);
      // In JSON, line ends occur only between tokens: in embedded rows, and in columns of the type json.
      const line = sql`coalesce(pg_catalog.translate(${json}::text, E'\r\n', '  '), 'null') || E'\n'`;
      return sql`coalesce(pg_catalog.string_agg(${line}, ''), '')`;
    });
    context
      .use(receiveBodyHook)
      .tap("ndjson", ({ name }) =>
        name === NDJSON ? createLinesReader((text) => context.use(restHintsService)?.findJsonError(text)) : undefined,
      );
  },
});
