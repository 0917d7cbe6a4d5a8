/** The schemas of all roles: one source per model, one set of types per role, made when a caller of that role comes. @rule G-GEN-1 */
import type { PluginContext, RelApiHooks, RoleSchema, Session } from "../../core/index.ts";
import type { IntrospectionService } from "./introspection.ts";
import { buildRoleSchema } from "./types/builder.ts";
import { viewOf } from "./types/rights.ts";
import { createSource, type Source } from "./types/source.ts";
import { createValues, type Values } from "./types/values.ts";

/** Schemas kept per model: roles in use at a time. */
const MAX_ROLES = 200;

interface ModelSchemas {
  readonly version: number;
  readonly source: Source;
  readonly values: Values;
  readonly byView: Map<string, RoleSchema>;
  readonly bySession: WeakMap<Session, RoleSchema>;
}

export interface Schemas {
  of(session: Session): RoleSchema;
}

export const createSchemas = (hooks: RelApiHooks, context: PluginContext): Schemas => {
  let current: ModelSchemas | undefined;

  const schemasOfModel = (): ModelSchemas => {
    const model = context.model();
    if (current?.version !== model.version) {
      const source = createSource(model, (message) => context.logger.warn(message));
      current = { version: model.version, source, values: createValues(model, source.names, context.options.disablePostgresArrays), byView: new Map(), bySession: new WeakMap() };
    }
    return current;
  };

  const schemaOf = (session: Session): RoleSchema => {
    const model = context.model();
    const { source, values, byView } = schemasOfModel();
    const view = viewOf(model, session);
    let schema = byView.get(view.key);
    if (schema === undefined) {
      const introspection = context.service<IntrospectionService>("graphql-introspection");
      schema = buildRoleSchema({
        model, source, values, view, hooks,
        registry: context.registry,
        options: context.options,
        metaFields: introspection?.metaFields ?? new Map(),
        introspect: introspection?.introspect ?? (() => () => "null"),
      });
      if (byView.size >= MAX_ROLES) byView.clear();
      byView.set(view.key, schema);
    }
    return schema;
  };

  return {
    of: (session) => {
      const { bySession } = schemasOfModel();
      let schema = bySession.get(session);
      if (schema === undefined) bySession.set(session, (schema = schemaOf(session)));
      return schema;
    },
  };
};
