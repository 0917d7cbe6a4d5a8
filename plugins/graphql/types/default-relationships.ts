/** Builds the default relationships. There is one for each direction of a foreign key, and the names come from the
 *  tables. @rule G-REL-5 … G-REL-10 */
import { pluralize, singularize } from "inflection";
import {
  findColumn,
  findRelation,
  type ForeignKey,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../../core/index.ts";
import { isLegalName } from "./names.ts";
import type { GqlRelationshipField } from "../catalog-types.ts";

const TABLE_KINDS: ReadonlySet<string> = new Set(["table", "partitioned", "foreign"]);

/** Converts `team_by_home_team_id` to `teamByHomeTeamId`. @rule G-REL-9 */
const camelize = (name: string): string =>
  name
    .split("_")
    .filter((part) => part !== "")
    .map((part, i) =>
      i === 0
        ? part.charAt(0).toLowerCase() + part.slice(1)
        : part.charAt(0).toUpperCase() + part.slice(1).toLowerCase(),
    )
    .join("");

interface Candidate {
  readonly relationship: Relationship;
  readonly target: Relation;
  /** The preferred name of the relationship, which may be taken. */
  readonly name: string;
  readonly columns: readonly string[];
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

const findFirstPosition = (relation: Relation, key: ForeignKey): number =>
  findColumn(relation, key.columns[0] ?? "")?.position ?? 0;

const findOwnKeyRelationship = (source: Relation, target: QualifiedName, key: ForeignKey): Relationship | undefined =>
  source.relationships.find(
    (relationship) =>
      relationship.constraint === key.name &&
      relationship.isOwnKey &&
      relationship.junction === undefined &&
      relationship.routine === undefined &&
      relationship.target.name === target.name &&
      relationship.target.schema === target.schema,
  );

/** Returns the relation's own foreign keys, sorted by the position of their first column, then by name. */
const listOwnCandidates = (model: Model, relation: Relation, isServed: (name: QualifiedName) => boolean): Candidate[] =>
  [...relation.foreignKeys]
    .sort((a, b) => compare(findFirstPosition(relation, a), findFirstPosition(relation, b)) || compare(a.name, b.name))
    .flatMap((key) => {
      const target = isServed(key.target) ? findRelation(model, key.target) : undefined;
      const relationship = target && findOwnKeyRelationship(relation, target, key);
      return target && relationship
        ? [{ relationship, target, name: singularize(target.name), columns: key.columns }]
        : [];
    });

/** Returns the foreign keys of other relations that refer to this one. One-to-one keys come first, and each group is
 *  sorted by (schema, table, position of the first column, name). */
const listReverseCandidates = (
  model: Model,
  relation: Relation,
  isServed: (name: QualifiedName) => boolean,
): Candidate[] => {
  const knownKeys = new Set<ForeignKey>();
  return relation.relationships
    .flatMap((relationship) => {
      const { constraint, isOwnKey, junction, routine, target } = relationship;
      if (isOwnKey || junction !== undefined || routine !== undefined || !isServed(target)) return [];
      const from = findRelation(model, target);
      const key = from?.foreignKeys.find(
        ({ name, target: to }) => name === constraint && to.name === relation.name && to.schema === relation.schema,
      );
      if (from === undefined || key === undefined || knownKeys.has(key)) return [];
      knownKeys.add(key);
      return [{ from, key, relationship }];
    })
    .sort(
      (a, b) =>
        Number(b.relationship.isToOne) - Number(a.relationship.isToOne) ||
        compare(a.from.schema, b.from.schema) ||
        compare(a.from.name, b.from.name) ||
        compare(findFirstPosition(a.from, a.key), findFirstPosition(b.from, b.key)) ||
        compare(a.key.name, b.key.name),
    )
    .map(({ from, key, relationship }) => ({
      relationship,
      target: from,
      name: relationship.isToOne ? singularize(from.name) : pluralize(from.name),
      columns: key.columns,
    }));
};

/** Returns a free name that is closest to the preferred one. @rule G-REL-8 */
const chooseFreeName = (candidate: Candidate, usedNames: ReadonlySet<string>): string => {
  if (!usedNames.has(candidate.name)) return candidate.name;
  const long = candidate.columns.reduce((text, column) => `${text}_${column}`, `${candidate.name}_by`);
  let name = camelize(long);
  for (let i = 1; usedNames.has(name); i++) name = camelize(`${long}_${i}`);
  return name;
};

/** Returns the named relationships of one relation. `fields` has the names of its columns. `isServed` checks that a
 *  relation is on the surface. */
export const listDefaultRelationships = (
  model: Model,
  relation: Relation,
  fields: Iterable<string>,
  isServed: (name: QualifiedName) => boolean,
): GqlRelationshipField[] => {
  if (!TABLE_KINDS.has(relation.kind)) return [];
  const takenNames = new Set(fields);
  const candidates = [
    ...listOwnCandidates(model, relation, isServed),
    ...listReverseCandidates(model, relation, isServed),
  ];
  return candidates.flatMap((candidate) => {
    const name = chooseFreeName(candidate, takenNames);
    takenNames.add(name);
    return isLegalName(name) ? [{ name, relationship: candidate.relationship, target: candidate.target }] : [];
  });
};
