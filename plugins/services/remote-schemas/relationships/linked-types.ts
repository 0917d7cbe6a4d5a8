/** Adds the relationships of a remote schema's types to copies of these types, because the fields of relationships
 *  depend on the role. @rule X-RMT-14a X-RMT-14c */
import {
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLUnionType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLOutputType,
} from "graphql";
import type { GqlBuild, GqlDelegate, GqlField, GqlForward } from "../../../graphql/api.ts";
import { buildJoinField } from "./join-fields.ts";
import type { Remote } from "../remotes.ts";
import type { RelationshipsByType, TypeRelationship } from "./type-relationships.ts";
import type { RemoteRoleSchema } from "../schema/role-schema.ts";

type FieldConfig = GraphQLFieldConfig<unknown, unknown>;

/** Converts fields of a role schema to fields whose types have the relationships of the role. */
type LinkField = (field: GqlField) => GqlField;

/** Returns the part of a remote schema that the role sees. */
type FindRoleSchema = (remote: Remote) => RemoteRoleSchema | undefined;

interface LinkContext {
  readonly build: GqlBuild;
  readonly relationships: ReadonlyMap<Remote, RelationshipsByType>;
  readonly findRoleSchema: FindRoleSchema;
}

const copyTypes = (
  roleSchema: RemoteRoleSchema,
  buildLinks: (type: GraphQLObjectType) => GraphQLFieldConfigMap<unknown, unknown>,
): (<Type extends GraphQLOutputType>(type: Type) => Type) => {
  const copies = new Map<GraphQLNamedType, GraphQLNamedType>();
  const convertFields = (fields: GraphQLFieldConfigMap<unknown, unknown>): GraphQLFieldConfigMap<unknown, unknown> =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, type: convert(field.type) }]));
  const convert = <Type extends GraphQLOutputType>(type: Type): Type => {
    // A wrapper of an output type is an output type.
    if (isListType(type)) return new GraphQLList(convert(type.ofType)) as unknown as Type;
    if (isNonNullType(type))
      return new GraphQLNonNull(convert(type.ofType as GraphQLOutputType & GraphQLNullableType)) as unknown as Type;
    return (copies.get(type as GraphQLNamedType) ?? type) as Type;
  };
  for (const type of Object.values(roleSchema.schema.getTypeMap())) {
    if (isIntrospectionType(type)) continue;
    if (isObjectType(type)) {
      const { interfaces, fields, ...config } = type.toConfig();
      const copy = new GraphQLObjectType({
        ...config,
        interfaces: () => interfaces.map(convert),
        fields: () => ({ ...buildLinks(type), ...convertFields(fields) }),
      });
      copies.set(type, copy);
    } else if (isInterfaceType(type)) {
      const { interfaces, fields, ...config } = type.toConfig();
      copies.set(
        type,
        new GraphQLInterfaceType({
          ...config,
          interfaces: () => interfaces.map(convert),
          fields: () => convertFields(fields),
        }),
      );
    } else if (isUnionType(type)) {
      const { types, ...config } = type.toConfig();
      copies.set(type, new GraphQLUnionType({ ...config, types: () => types.map(convert) }));
    }
  }
  return convert;
};

/** Renames the members of a delegate's rows to the remote's own names. */
const renameMembers = (
  delegate: GqlDelegate,
  ownNames: readonly string[],
  members: readonly string[],
): GqlDelegate => ({
  ...delegate,
  load: (rows, request) =>
    delegate.load(
      rows.map((row) => Object.fromEntries(ownNames.map((name, i) => [name, row[members[i] ?? ""] ?? null]))),
      request,
    ),
});

/** Returns the function that adds relationships to fields of a role. The types of a role schema are copied once. */
export const createLinkedFields = ({ build, relationships, findRoleSchema: findView }: LinkContext) => {
  const linkFields = new Map<RemoteRoleSchema, LinkField>();

  const buildLink = (
    relationship: TypeRelationship,
    roleSchema: RemoteRoleSchema,
    typeName: string,
  ): FieldConfig | undefined => {
    const ownType = roleSchema.ownSchema.getType(typeName);
    const fields = isObjectType(ownType) ? ownType.getFields() : {};
    const rename = (field: string): string => roleSchema.names.renameField(typeName, field);
    if ("relation" in relationship) {
      const { relation, columns, isToOne } = relationship;
      const table = columns.every(([field]) => Object.hasOwn(fields, field)) ? build.table(relation) : undefined;
      const renamedColumns = columns.map(([field, column]) => [rename(field), column] as const);
      return table && build.joinedField(table, { columns: renamedColumns, isToOne, description: undefined });
    }
    const { columns, remote } = relationship;
    const target = columns.every((field) => Object.hasOwn(fields, field)) ? findView(remote) : undefined;
    const joinField = target && buildJoinField(target, relationship);
    if (target === undefined || joinField === undefined) return undefined;
    const { config, toPlan } = getLinkField(remote, target)(joinField);
    if (toPlan.kind !== "custom" || !("delegate" in toPlan)) throw new TypeError("a relationship has a delegate");
    const members = columns.map(rename);
    return build.delegatedField({
      plugin: "remote-schema-fields",
      config: config as FieldConfig, // `buildJoinField` makes fields of output types
      members,
      delegate: renameMembers(toPlan.delegate, columns, members),
    });
  };

  const createLinkField = (roleSchema: RemoteRoleSchema, byType: RelationshipsByType): LinkField => {
    const ownTypes = new Map([...byType.keys()].map((name) => [roleSchema.names.renameType(name), name]));
    const convert = copyTypes(roleSchema, (type) => {
      const typeName = ownTypes.get(type.name) ?? "";
      return Object.fromEntries(
        (byType.get(typeName) ?? []).flatMap((relationship) => {
          const link = buildLink(relationship, roleSchema, typeName);
          return link === undefined ? [] : [[relationship.name, link]];
        }),
      );
    });
    const types = roleSchema.types.map(convert);
    const add = <Part extends Pick<GqlForward, "types" | "hasLinks">>(part: Part): Part => ({
      ...part,
      types,
      hasLinks: true,
    });
    return ({ config, toPlan }) => {
      if (toPlan.kind !== "custom") throw new TypeError("fields of remote schemas are custom fields");
      const linkedPlan = {
        ...toPlan,
        ...("forward" in toPlan && { forward: add(toPlan.forward) }),
        ...("delegate" in toPlan && { delegate: add(toPlan.delegate) }),
      };
      return {
        // Fields of a role schema have output types.
        config: { ...(config as FieldConfig), type: convert(config.type as GraphQLOutputType) },
        toPlan: linkedPlan,
      };
    };
  };

  const getLinkField = (remote: Remote, roleSchema: RemoteRoleSchema): LinkField => {
    const knownFields = linkFields.get(roleSchema);
    if (knownFields !== undefined) return knownFields;
    const byType = relationships.get(remote);
    const linkField: LinkField = byType === undefined ? (field) => field : createLinkField(roleSchema, byType);
    linkFields.set(roleSchema, linkField);
    return linkField;
  };
  return getLinkField;
};
