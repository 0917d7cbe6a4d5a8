/** Loads the model from the database. */
export {
  catalogIntrospection,
  getColumnOrigins,
  loadCatalog,
  type CatalogPart,
  type ColumnOrigin,
  type ColumnOrigins,
} from "./catalog.ts";
export { relationships, deriveRelationships } from "./relationships.ts";
export { computedRelationships, deriveComputedRelationships } from "./computed.ts";
