/** `GET /schema_cache`: the model as JSON. */
import type { Model } from "../../core/index.ts";

/** Maps become objects; the NUL in keys of schema and name becomes a dot. */
export const encodeModel = (model: Model): string =>
  JSON.stringify(model, (_key, part: unknown) => {
    if (part instanceof Map)
      return Object.fromEntries(
        [...(part as Map<unknown, unknown>)].map(([key, member]) => [String(key).replace("\u0000", "."), member]),
      );
    return part instanceof Set ? [...(part as Set<unknown>)] : part;
  });
