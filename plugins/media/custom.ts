/** `Accept: text/html` where the database has a domain of that name: its aggregates and functions make the body. */
import {
  baseTypeOf,
  definePlugin,
  ident,
  sameName,
  sql,
  type Json,
  type MediaContext,
  type MediaHandler,
  type Model,
  type Routine,
  type Sql,
} from "../../core/index.ts";
import { chooseMediaHook, type MediaChosen, type MediaType, type MediaContext as Wanted } from "../rest/api.ts";

interface HandlerOptions {
  readonly schema: string;
  readonly name: string;
  readonly isBytea: boolean;
}

const handlerOptions = (options: Json | undefined): HandlerOptions => options as unknown as HandlerOptions; // written by `choose`

/** Bytes travel as base64, the rest as its type prints it: a cast to text would keep what `xml` leaves out. A null
 *  value is an empty body (R-MED-6). */
const bodyText = (body: Sql, isBytea: boolean): Sql =>
  isBytea ? sql`coalesce(pg_catalog.encode(${body}, 'base64'), '')` : sql`pg_catalog.concat(${body})`;

/** What the aggregate is called with. The rows of a statement have lost the relation's row type. */
const handledRow = ({ row, rowAlias, relation, returns, envelope }: MediaContext): Sql => {
  if (returns === "value" || returns === "values") return ident(rowAlias, "value");
  return relation !== undefined && envelope.domains === "stored"
    ? sql`${row}::${ident(relation.schema, relation.name)}`
    : row;
};

/** Names under which the handlers are compiled, whatever their media type. */
const AGGREGATE = "custom-aggregate";
const VALUE = "custom-value";

/** Handlers that the database declares by domains. @rule R-MED-4 R-MED-5 R-MED-6 */
const choose = (type: MediaType, { model, relation, routine, isWholeRow }: Wanted): MediaChosen | undefined => {
  if (type.plan !== undefined) return undefined;
  if (isWholeRow) {
    const served = routine === undefined ? undefined : valueHandler(model, routine);
    for (const name of type.name === "*/*" ? ["*/*"] : ["*/*", type.name]) {
      if (served?.mediaType === name) return handledBy(name, VALUE, { isBytea: served.isBytea });
      const own =
        relation &&
        model.mediaHandlers.find(
          (handler) =>
            handler.mediaType === name && handler.relation !== undefined && sameName(handler.relation, relation),
        );
      if (own !== undefined) return aggregateChoice(name, own);
    }
  }
  const general = model.mediaHandlers.find(
    (handler) => handler.relation === undefined && handler.mediaType === type.name,
  );
  return general && aggregateChoice(type.name, general);
};

const aggregateChoice = (name: string, { aggregate, relation, isBytea }: MediaHandler): MediaChosen => {
  const chosen = handledBy(name, AGGREGATE, { schema: aggregate.schema, name: aggregate.name, isBytea });
  return relation === undefined ? chosen : { ...chosen, envelope: { ...chosen.envelope, domains: "stored" } };
};

/** An answer of a handler for any type says nothing of its type. */
const handledBy = (name: string, media: string, mediaOptions: Partial<HandlerOptions>): MediaChosen => ({
  envelope: { media, mediaOptions },
  ...(name === "*/*" ? { contentType: "application/octet-stream" } : {}),
  isBinary: mediaOptions.isBytea === true,
});

/** `text/html`, `application/vnd.x-y+json`, `*` + `/*`: what a domain is called to be a media type. */
const MEDIA_NAME = /^(?:[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+|\*\/\*)$/;

/** The media type that a function's result is, by the name of its domain. */
const valueHandler = (
  model: Model,
  routine: Routine,
): { readonly mediaType: string; readonly isBytea: boolean } | undefined => {
  if (routine.returns.isSet || routine.returns.kind !== "scalar") return undefined;
  const type = model.types.get(routine.returns.type);
  if (type?.kind !== "domain" || !MEDIA_NAME.test(type.name)) return undefined;
  return { mediaType: type.name.toLowerCase(), isBytea: baseTypeOf(model, type.oid)?.name === "bytea" };
};

/** @rule R-MED-4 R-MED-5 R-MED-6 */
export const customMedia = definePlugin({
  name: "custom-media",
  requires: ["rest"],
  apply: (hooks, context) => {
    context.use(chooseMediaHook).tap("custom-media", choose);
    hooks.compileMedia.for(AGGREGATE).tap("custom-media", (context) => {
      const { schema, name, isBytea } = handlerOptions(context.options);
      return bodyText(sql`${ident(schema, name)}(${handledRow(context)})`, isBytea);
    });
    hooks.compileMedia
      .for(VALUE)
      .tap("custom-media", (context) =>
        bodyText(
          sql`(pg_catalog.array_agg(${ident(context.rowAlias, "value")}))[1]`,
          handlerOptions(context.options).isBytea,
        ),
      );
  },
});
