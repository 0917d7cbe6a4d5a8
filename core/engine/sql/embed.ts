/** Compiles embeds: creates the context of a mode's compiler and calls it. */
import type { EmbedContext, EmbedSql } from "../../hooks.ts";
import { routineOfRow } from "../model/computed.ts";
import { relationOf, relationshipOf, type Relation, type Routine } from "../model/model.ts";
import type { Embed, Output } from "../plan/plan.ts";
import { compileAggregateRead } from "./aggregate-read.ts";
import { routineArguments } from "./call.ts";
import { existsOf } from "./exists.ts";
import { ident, sql, type Sql } from "./fragment.ts";
import { arrayOf } from "./json.ts";
import { arrayQuery, objectQuery } from "./json-rows.ts";
import type { ReadOptions } from "./from-clause.ts";
import { asShownValue, compileRows, expandAll } from "./read.ts";
import { findRelationship, relatedRows } from "./related.ts";
import {
  noEmbeds,
  badPlan,
  qualified,
  rowValue,
  type CompiledColumn,
  type CompiledEmbed,
  type Compiler,
  type EmbedUse,
  type Scope,
} from "./scope.ts";

export const compileEmbed = (compiler: Compiler, embed: Embed, parent: Scope, use: EmbedUse): CompiledEmbed => {
  const { via } = embed;
  const { row: shown, limit, offset, cap } = embed.read;
  const isToOne = "relationship" in via ? findRelationship(parent, via.relationship).isToOne : via.isToOne;
  const target =
    "relationship" in via
      ? relationOf(compiler.model, findRelationship(parent, via.relationship).target)
      : targetOf(compiler, embed, parent);
  // the rows of a list become JSON
  const showsText = use.showsText && isToOne;
  const place = (): ReadOptions => {
    if ("relationship" in via)
      return { related: relatedRows(compiler, parent, via.relationship, shown), isCompared: use.isGrouped, showsText };
    const row = compiler.alias(via.routine.name);
    compiler.dependencies.isOpenEnded = true;
    const scope: Scope = { row, relation: target, isRecord: false, root: undefined, embeds: noEmbeds };
    return {
      from: {
        from: sql`${qualified(via.routine)}(${routineArguments(compiler, via.arguments ?? [], rowValue(parent))}) as ${ident(row)}`,
        scope,
      },
      isCompared: use.isGrouped,
      showsText,
    };
  };
  // a to-one read is limited to one row only if the relationship itself does not guarantee that
  const isCertainlyOne =
    "relationship" in via &&
    findRelationship(parent, via.relationship).isManual !== true &&
    findRelationship(parent, via.relationship).routine === undefined;
  const isCut = limit !== undefined || offset !== undefined || cap !== undefined;
  const exists = (scope: Scope): Sql =>
    existsOf(scope, (level) => compileRows(compiler, embed.read, { ...place(), level }, true).sql, isCut);
  if (!use.isOutput && !use.needsJoin)
    return { join: undefined, columns: [], row: undefined, keys: [], isInnerJoined: false, exists };
  let keys: readonly string[] | undefined;
  let storedTypes: ReadonlyMap<string, number> | undefined;
  const context: EmbedContext = {
    model: compiler.model,
    parent: ident(parent.row),
    alias: () => compiler.alias("_e"),
    target,
    isToOne,
    isCertainlyOne,
    isGrouped: use.isGrouped,
    needsJoin: use.needsJoin,
    isLimited: use.isLimited,
    rows: (read = embed.read) => {
      const compiled = compileRows(compiler, read, place());
      keys = compiled.keys;
      return compiled.sql;
    },
    stored: (read = embed.read) => {
      const compiled = compileRows(compiler, read, { ...place(), isStored: true });
      ({ keys, storedTypes } = compiled);
      return compiled.sql;
    },
    array: (read = embed.read) => arrayQuery(compiler, read, place()),
    object: (read = embed.read) => objectQuery(compiler, read, place()),
    aggregate: (read = embed.read) => compileAggregateRead(compiler, read, place()),
    arrayOf: (element) => arrayOf(compiler.style, element),
    lateral: (rowsOf, alias) => {
      const kind = embed.join === "inner" ? sql`join lateral` : sql`left join lateral`;
      return sql`${kind} (${rowsOf}) as ${ident(alias)} on true`;
    },
    expand: (outputs) => expandDeep(compiler, target, embed.mode, outputs),
  };
  const answer: EmbedSql | undefined = compiler.hooks.compileEmbed.for(embed.mode).call(embed, context);
  if (answer === undefined) throw badPlan(`no plugin compiles the embedding mode "${embed.mode}"`);
  const columns = answer.columns.map(({ stored, ...column }): CompiledColumn => {
    const type = stored === undefined ? undefined : storedTypes?.get(stored);
    if (type === undefined) return column;
    return {
      ...column,
      value: asShownValue(compiler, column.value, type, showsText),
      stored: { sql: column.value, type },
    };
  });
  return {
    join: answer.join,
    columns,
    row: answer.row,
    keys: keys ?? answer.columns.map((column) => column.as),
    isInnerJoined: answer.isInnerJoined === true,
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
    const target = relationshipOf(relation, output.via.relationship)?.target;
    const inner = target && relationOf(compiler.model, target);
    return [{ ...output, read: { ...output.read, output: expandDeep(compiler, inner, mode, output.read.output) } }];
  });

const targetOf = (compiler: Compiler, { via }: Embed, parent: Scope): Relation | undefined => {
  if (!("routine" in via)) return undefined;
  const returnsRows = (routine: Routine): boolean => routine.returns.relation !== undefined;
  const returns = routineOfRow(compiler.model, via.routine, parent.relation, returnsRows)?.returns.relation;
  return returns === undefined ? undefined : relationOf(compiler.model, returns);
};
