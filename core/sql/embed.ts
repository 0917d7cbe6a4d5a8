/** Compiles embeds: creates the context for the compiler of an embedding mode and calls that compiler. */
import type { EmbedContext, EmbedSql } from "../hooks.ts";
import { findRowRoutine } from "../model/computed-fields.ts";
import { findRelation, findRelationship, type Relation, type Routine } from "../model/model.ts";
import type { Embed, Output } from "../plan/plan.ts";
import { compileAggregateRead } from "./aggregate-read.ts";
import { compileRoutineArguments } from "./call.ts";
import { compileExists } from "./exists.ts";
import { quoteIdentifier, sql, type Sql } from "./fragment.ts";
import { compileArrayQuery, compileObjectQuery } from "./json-rows.ts";
import type { ReadOptions } from "./from-clause.ts";
import { convertToShownValue, compileRows, expandAll } from "./read.ts";
import { requireRelationship, compileRelatedRows } from "./related-rows.ts";
import {
  planInvalid,
  quoteQualifiedName,
  compileRow,
  type CompiledColumn,
  type CompiledEmbed,
  type Compiler,
  type EmbedUse,
  type Scope,
} from "./scope.ts";

/** Compiles an embed for its parent row. The SQL of the rows is compiled only if the parent shows the embed or sorts by
 *  it. Otherwise the result has only the condition `exists`. @throws Error if no plugin compiles the embedding mode */
export const compileEmbed = (compiler: Compiler, embed: Embed, parent: Scope, use: EmbedUse): CompiledEmbed => {
  const { via } = embed;
  const { row: displayName, limit, offset, cap } = embed.read;
  const isToOne = "relationship" in via ? requireRelationship(parent, via.relationship).isToOne : via.isToOne;
  const target =
    "relationship" in via
      ? findRelation(compiler.model, requireRelationship(parent, via.relationship).target)
      : findRoutineTarget(compiler, embed, parent);
  // Only to-one values can be text, because the rows of a list become JSON.
  const showsText = use.showsText && isToOne;
  const createReadOptions = (): ReadOptions => {
    if ("relationship" in via)
      return {
        relatedRows: compileRelatedRows(compiler, parent, via.relationship, displayName),
        isCompared: use.isGrouped,
        showsText,
      };
    const row = compiler.alias(via.routine.name);
    compiler.dependencies.isOpenEnded = true;
    const scope: Scope = { row, relation: target };
    return {
      from: {
        from: sql`${quoteQualifiedName(via.routine)}(${compileRoutineArguments(compiler, via.arguments ?? [], compileRow(parent))}) as ${quoteIdentifier(row)}`,
        scope,
      },
      isCompared: use.isGrouped,
      showsText,
    };
  };
  // A to-one read needs a limit of one row only if the relationship itself does not guarantee one row.
  const isCertainlyOne =
    "relationship" in via &&
    requireRelationship(parent, via.relationship).isManual !== true &&
    requireRelationship(parent, via.relationship).routine === undefined;
  const isCut = limit !== undefined || offset !== undefined || cap !== undefined;
  const exists = (scope: Scope): Sql =>
    compileExists(
      scope,
      (level) => compileRows(compiler, embed.read, { ...createReadOptions(), level }, true).sql,
      isCut,
    );
  if (!use.isOutput && !use.needsJoin)
    return { join: undefined, columns: [], row: undefined, keys: [], isInnerJoined: false, exists };
  let keys: readonly string[] | undefined;
  let storedTypes: ReadonlyMap<string, number> | undefined;
  const context: EmbedContext = {
    model: compiler.model,
    parent: quoteIdentifier(parent.row),
    alias: () => compiler.alias("_e"),
    target,
    isToOne,
    isCertainlyOne,
    isGrouped: use.isGrouped,
    needsJoin: use.needsJoin,
    isLimited: use.isLimited,
    rows: (read = embed.read) => {
      const compiledRows = compileRows(compiler, read, createReadOptions());
      keys = compiledRows.keys;
      return compiledRows.sql;
    },
    storedRows: (read = embed.read) => {
      const compiledRows = compileRows(compiler, read, { ...createReadOptions(), isStored: true });
      ({ keys, storedTypes } = compiledRows);
      return compiledRows.sql;
    },
    array: (read = embed.read) => compileArrayQuery(compiler, read, createReadOptions()),
    object: (read = embed.read) => compileObjectQuery(compiler, read, createReadOptions()),
    aggregate: (read = embed.read) => compileAggregateRead(compiler, read, createReadOptions()),
    lateral: (rows, alias) => {
      const kind = embed.join === "inner" ? sql`join lateral` : sql`left join lateral`;
      return sql`${kind} (${rows}) as ${quoteIdentifier(alias)} on true`;
    },
    expand: (outputs) => expandDeep(compiler, target, embed.mode, outputs),
  };
  const embedSql: EmbedSql | undefined = compiler.hooks.compileEmbed.for(embed.mode).call(embed, context);
  if (embedSql === undefined) throw planInvalid(`no plugin compiles the embedding mode "${embed.mode}"`);
  const columns = embedSql.columns.map(({ stored: storedColumn, ...column }): CompiledColumn => {
    const type = storedColumn === undefined ? undefined : storedTypes?.get(storedColumn);
    if (type === undefined) return column;
    return {
      ...column,
      value: convertToShownValue(compiler, column.value, type, showsText),
      storedValue: { sql: column.value, type },
    };
  });
  return {
    join: embedSql.join,
    columns,
    row: embedSql.row,
    keys: keys ?? embedSql.columns.map((column) => column.as),
    isInnerJoined: embedSql.isInnerJoined === true,
    exists,
  };
};

/** Returns the outputs with `*` expanded, including those of nested embeds of the same mode. @rule R-SPR-3 */
const expandDeep = (
  compiler: Compiler,
  relation: Relation | undefined,
  mode: string,
  outputs: readonly Output[],
): readonly Output[] =>
  outputs.flatMap((output): readonly Output[] => {
    if (relation === undefined) return [output];
    if (output.kind === "all") return expandAll(relation);
    if (output.kind !== "embed" || output.mode !== mode || output.isHidden === true || !("relationship" in output.via))
      return [output];
    const target = findRelationship(relation, output.via.relationship)?.target;
    const inner = target && findRelation(compiler.model, target);
    return [{ ...output, read: { ...output.read, output: expandDeep(compiler, inner, mode, output.read.output) } }];
  });

const findRoutineTarget = (compiler: Compiler, { via }: Embed, parent: Scope): Relation | undefined => {
  if (!("routine" in via)) return undefined;
  const returnsRows = (routine: Routine): boolean => routine.returns.relation !== undefined;
  const returns = findRowRoutine(compiler.model, via.routine, parent.relation, returnsRows)?.returns.relation;
  return returns === undefined ? undefined : findRelation(compiler.model, returns);
};
