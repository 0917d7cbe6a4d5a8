/** `target!hint`: finds the relationship that an embed means. */
import {
  isView,
  findRelation,
  isSameName,
  type Cardinality,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../../core/index.ts";
import { relationshipAmbiguous, relationshipNotFound, type RelationshipCandidate } from "../errors.ts";
import type { RestSurface, SelectEmbed } from "../request.ts";

export interface RelationshipSearch {
  readonly rest: Pick<RestSurface, "findHints" | "findSuggestions">;
  readonly model: Model;
  /** The schema of the request. Embeds cannot name objects outside of this schema. */
  readonly schema: string;
  /** The relation of the rows. Undefined if the rows belong to no relation. */
  readonly source: Relation | undefined;
  /** The name of the source in messages. */
  readonly sourceName: string;
}

/**
 * Returns the single relationship that an embed names. @throws RelApiError `relationship-not-found`,
 * `relationship-ambiguous` @rule R-EMB-1 R-EMB-2
 */
export const resolveRelationship = (search: RelationshipSearch, embed: SelectEmbed): Relationship => {
  const { rest, model, schema, source, sourceName } = search;
  const usable =
    source === undefined || source.schema !== schema
      ? []
      : source.relationships.filter((relationship) => isUsable(model, schema, relationship));
  const hasHints = rest.findHints() !== undefined;
  const findCandidates = (embed: EmbedName): readonly Relationship[] => {
    const matches = usable.filter((relationship) => matchesEmbed(model, relationship, embed));
    // Both directions of a key to a view of the same table have the same columns.
    const sourceMatches = matches.filter((relationship) => findSingleColumn(relationship, "source") === embed.hint);
    return hasHints && matches.length > 1 && sourceMatches.length === 1 ? sourceMatches : matches;
  };
  const candidates = findCandidates(embed);
  const [candidate] = candidates;
  if (candidate === undefined) {
    const suggestion = rest.findSuggestions()?.relationship(model, schema, sourceName, embed.name);
    // The source is an existing relation, or rows of a function, whose type the request does not name.
    const isSourceSuggestedWrongly = hasHints && suggestion?.misspelt === sourceName;
    throw relationshipNotFound(
      sourceName,
      embed.name,
      embed.hint,
      schema,
      isSourceSuggestedWrongly ? undefined : suggestion,
    );
  }
  if (candidates.length > 1) {
    const buildHint = hasHints
      ? (relationship: Relationship) => findUniqueHint(relationship, findCandidates)
      : (relationship: Relationship) => relationship.junction?.relation.name ?? relationship.constraint;
    throw buildRelationshipAmbiguityError(sourceName, embed.name, candidates, buildHint);
  }
  return candidate;
};

type EmbedName = Pick<SelectEmbed, "name" | "hint">;

/** Returns a hint that means only this relationship. Returns undefined if there is no such hint. @rule R-EMB-5 */
const findUniqueHint = (
  relationship: Relationship,
  findCandidates: (embed: EmbedName) => readonly Relationship[],
): string | undefined =>
  [
    relationship.junction?.relation.name ?? relationship.constraint,
    findSingleColumn(relationship, "source"),
    findSingleColumn(relationship, "target"),
  ].find((hint) => {
    if (hint === undefined || hint === "") return false;
    const [candidate, ...otherCandidates] = findCandidates({ name: relationship.target.name, hint });
    return candidate === relationship && otherCandidates.length === 0;
  });

/** Returns whether the schemas of the relationship permit its use. @rule R-REL-8 */
const isUsable = (model: Model, schema: string, { source, target, routine }: Relationship): boolean => {
  if (source.schema !== schema) return false;
  return routine === undefined
    ? target.schema === schema
    : routine.schema === schema && model.schemas.includes(target.schema);
};

/** Returns whether the name and the hint of an embed match the relationship. @rule R-EMB-1 */
const matchesEmbed = (model: Model, relationship: Relationship, embed: EmbedName): boolean => {
  if (relationship.routine !== undefined) return relationship.routine.name === embed.name;
  return isSameName(relationship.source, relationship.target)
    ? matchesSelfReference(relationship, embed)
    : matchesOtherRelation(model, relationship, embed);
};

const matchesOtherRelation = (model: Model, relationship: Relationship, { name, hint }: EmbedName): boolean => {
  const { target, junction } = relationship;
  if (hint !== undefined) {
    if (target.name !== name) return false;
    return junction === undefined
      ? isNamedByKey(relationship, hint) || findSingleColumn(relationship, "target") === hint
      : junction.relation.name === hint;
  }
  if (target.name === name) return true;
  return junction === undefined && isNamedByKey(relationship, name) && !isView(findRelation(model, target));
};

/**
 * Returns whether the embed means this relationship of a relation to itself. The relation's name means the children,
 * and the key column means the parent.
 */
const matchesSelfReference = (relationship: Relationship, { name, hint }: EmbedName): boolean => {
  const { cardinality, target, constraint } = relationship;
  if (cardinality === "one-to-many")
    return (
      target.name === name &&
      (hint === undefined || constraint === hint || findSingleColumn(relationship, "target") === hint)
    );
  return cardinality === "many-to-one" && hint === undefined && findSingleColumn(relationship, "source") === name;
};

const isNamedByKey = (relationship: Relationship, name: string): boolean =>
  (relationship.constraint !== "" && relationship.constraint === name) ||
  findSingleColumn(relationship, "source") === name;

const findSingleColumn = ({ columns }: Relationship, side: "source" | "target"): string | undefined =>
  columns.length === 1 ? columns[0]?.[side === "source" ? 0 : 1] : undefined;

const CARDINALITIES: readonly Cardinality[] = ["one-to-many", "many-to-one", "one-to-one", "many-to-many"];

/** Returns the key that sorts candidates in messages. @rule R-EMB-5 */
const buildSortKey = (relationship: Relationship): readonly string[] => [
  relationship.target.schema,
  relationship.target.name,
  String(CARDINALITIES.indexOf(relationship.cardinality)),
  relationship.constraint,
  relationship.junction === undefined ? "" : relationship.junction.sourceConstraint,
  relationship.junction === undefined ? "" : relationship.junction.targetConstraint,
  JSON.stringify(
    relationship.junction === undefined
      ? relationship.columns
      : [relationship.junction.source, relationship.junction.target],
  ),
];

const compareKeys = (a: readonly string[], b: readonly string[]): number => {
  for (const [i, part] of a.entries()) {
    const otherPart = b[i] ?? "";
    if (part !== otherPart) return part < otherPart ? -1 : 1;
  }
  return 0;
};

const buildRelationshipAmbiguityError = (
  source: string,
  target: string,
  candidates: readonly Relationship[],
  buildHint: (relationship: Relationship) => string | undefined,
): Error => {
  const keyedCandidates = candidates
    .map((relationship) => ({ relationship, key: buildSortKey(relationship) }))
    .sort((a, b) => compareKeys(a.key, b.key));
  const buildCandidateHint = (relationship: Relationship): Pick<RelationshipCandidate, "hint"> => {
    const hint = buildHint(relationship);
    return hint === undefined ? {} : { hint: `${relationship.target.name}!${hint}` };
  };
  const sortedCandidates = keyedCandidates.map(({ relationship }): RelationshipCandidate => ({
    details: {
      cardinality: relationship.cardinality,
      embedding: `${source} with ${relationship.target.name}`,
      relationship: describeRelationship(source, relationship),
    },
    ...buildCandidateHint(relationship),
    columns: listColumns(relationship),
  }));
  return relationshipAmbiguous(source, target, sortedCandidates);
};

const listColumns = ({ source, target, junction, columns }: Relationship): RelationshipCandidate["columns"] => {
  const qualifyColumns = (
    { schema, name }: QualifiedName,
    names: readonly string[],
  ): RelationshipCandidate["columns"] => names.map((column) => [schema, name, column]);
  if (junction === undefined)
    return [
      ...qualifyColumns(
        source,
        columns.map(([sourceColumn]) => sourceColumn),
      ),
      ...qualifyColumns(
        target,
        columns.map(([, targetColumn]) => targetColumn),
      ),
    ];
  return qualifyColumns(
    junction.relation,
    [...junction.source, ...junction.target].map(([, column]) => column),
  );
};

const describeRelationship = (source: string, { junction, constraint, columns, target }: Relationship): string => {
  const list = (names: readonly string[]): string => `(${names.join(", ")})`;
  if (junction === undefined) {
    return `${constraint} using ${source}${list(columns.map(([sourceColumn]) => sourceColumn))} and ${target.name}${list(columns.map(([, targetColumn]) => targetColumn))}`;
  }
  const sourceColumns = list(junction.source.map(([, column]) => column));
  const targetColumns = list(junction.target.map(([, column]) => column));
  return `${junction.relation.name} using ${junction.sourceConstraint}${sourceColumns} and ${junction.targetConstraint}${targetColumns}`;
};
