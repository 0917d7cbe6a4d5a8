/** Compiles the one row that a statement returns: body, counts, location, columns of plugins. */
import type { MediaContext } from "../hooks.ts";
import { findColumn, type Relation } from "../model/model.ts";
import type { Envelope, Output, Read } from "../plan/plan.ts";
import { quoteIdentifier, inlineInteger, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { buildObject, UNNAMED_COLUMN } from "./json.ts";
import { compileCountRows } from "./read.ts";
import { planInvalid, quoteQualifiedName, type Compiler } from "./scope.ts";
import { INSERTED_COUNT, type CompiledWrite } from "./write.ts";

/** A result column of a statement. */
export interface EnvelopeColumn {
  readonly name: string;
  readonly sql: Sql;
}

/** Returns the result columns of plugins. @rule X-RES-1 */
export const compileResultColumns = ({ registry }: Compiler): readonly EnvelopeColumn[] =>
  registry.resultColumns.map(({ name, compile }) => ({ name, sql: compile() }));

/** Compiles the body text of rows with the alias `rowAlias`. Plugins compile all media types except `CORE_MEDIA`. */
export const compileBody = (
  compiler: Compiler,
  envelope: Envelope,
  parts: Omit<MediaContext, "model" | "envelope" | "options" | "row" | "rowAlias"> & { readonly rowAlias: string },
): Sql => {
  if (envelope.media === undefined) return sql`''`;
  const body = compiler.hooks.compileMedia.for(envelope.media).call({
    ...parts,
    model: compiler.model,
    // This form denotes the row itself, even if a column has the name of the alias.
    row: sql`(${quoteIdentifier(parts.rowAlias)}.*)`,
    object:
      parts.areOutputsNamed && parts.outputs.includes("") ? buildRowObject(parts.rowAlias, parts.outputs) : undefined,
    envelope,
    options: envelope.mediaOptions,
  });
  if (body === undefined) throw planInvalid(`no plugin compiles the media type "${envelope.media}"`);
  return body;
};

const buildRowObject = (row: string, outputs: readonly string[]): Sql =>
  buildObject(outputs.map((as) => ({ as, sql: quoteIdentifier(row, as === "" ? UNNAMED_COLUMN : as) })));

/** Compiles the total: `count(*)` if nothing limits an exactly counted read, otherwise a subquery that counts the rows
 *  without the page. The count mode `estimated` counts at most one row more than the cap. Returns undefined if the
 *  statement has no count. @rule R-CNT-1 R-CNT-3 */
export const compileTotal = (compiler: Compiler, read: Read, envelope: Envelope): Sql | undefined => {
  if (envelope.count === undefined || envelope.count === "planned") return undefined;
  const isLimited = read.limit !== undefined || read.offset !== undefined || read.cap !== undefined;
  if (envelope.count === "exact" && !isLimited) return sql`count(*)`;
  const rows = compileCountRows(compiler, read);
  const limitedRows =
    envelope.count === "estimated" && envelope.countCap !== undefined
      ? sql`${rows} limit ${inlineInteger(envelope.countCap + 1)}`
      : rows;
  return sql`(select count(*) from (${limitedRows}) as _c)`;
};

/** Compiles a JSON array of the key's values, as text that filters can read. The array is NULL unless exactly one row
 *  was written. @rule R-WRT-2 */
export const compileLocation = (
  compiler: Compiler,
  { name, relation }: Pick<CompiledWrite, "name" | "relation">,
  key: readonly string[],
): Sql => {
  const compileKeyJson = (column: string): Sql => {
    const { fromText, toJson } = compiler.model.representations.get(findColumn(relation, column)?.type ?? 0) ?? {};
    return fromText === undefined || toJson === undefined
      ? sql`to_json(${quoteIdentifier(column)})`
      : sql`${quoteQualifiedName(toJson)}(${quoteIdentifier(column)})`;
  };
  return sql`(select json_build_array(${joinSql(key.map((column) => sql`min(${compileKeyJson(column)} #>> '{}')`))})::text from ${name} as _l having count(*) = 1)`;
};

/** Compiles the number of rows that the write has inserted, as text. The number is NULL if no row was counted. @rule
 *  R-UPS-4 R-PUT-4 */
export const compileInsertedCount = (): EnvelopeColumn => ({
  name: "inserted",
  sql: sql`nullif(pg_catalog.current_setting(${quoteLiteral(INSERTED_COUNT)}, true), '')`,
});

/** Returns the output names in order, if the read determines them. */
export const listOutputNames = (read: Read, relation: Relation | undefined): readonly string[] =>
  read.output.flatMap((output: Output) => {
    if (output.kind === "all") return relation === undefined ? [] : relation.columns.map((column) => column.name);
    return output.kind === "embed" && output.isHidden === true ? [] : [output.as];
  });
