/** `Accept: text/html` where the database has a domain of that name: its aggregates and functions make the body. */
import { definePlugin, ident, sql, type Json, type MediaContext, type Sql } from "../../core/index.ts";

interface HandlerOptions {
  readonly schema: string;
  readonly name: string;
  readonly isBytea: boolean;
}

const handlerOptions = (options: Json | undefined): HandlerOptions => options as unknown as HandlerOptions; // written by the surface's lookup

/** Bytes travel as base64, the rest as its type prints it: a cast to text would keep what `xml` leaves out. A null
 *  value is an empty body (R-MED-6). */
const bodyText = (body: Sql, isBytea: boolean): Sql =>
  isBytea ? sql`coalesce(pg_catalog.encode(${body}, 'base64'), '')` : sql`pg_catalog.concat(${body})`;

/** What the aggregate is called with. The rows of a statement have lost the relation's row type. */
const handledRow = ({ row, rowAlias, relation, returns, envelope }: MediaContext): Sql => {
  if (returns === "value" || returns === "values") return ident(rowAlias, "value");
  return relation !== undefined && envelope.takesRowType === true
    ? sql`${row}::${ident(relation.schema, relation.name)}`
    : row;
};

/** @rule R-MED-4 R-MED-5 R-MED-6 */
export const customMedia = definePlugin({
  name: "custom-media",
  apply: (hooks) => {
    hooks.compileMedia.for("custom-aggregate").tap("custom-media", (context) => {
      const { schema, name, isBytea } = handlerOptions(context.options);
      return bodyText(sql`${ident(schema, name)}(${handledRow(context)})`, isBytea);
    });
    hooks.compileMedia
      .for("custom-value")
      .tap("custom-media", (context) =>
        bodyText(
          sql`(pg_catalog.array_agg(${ident(context.rowAlias, "value")}))[1]`,
          handlerOptions(context.options).isBytea,
        ),
      );
  },
});
