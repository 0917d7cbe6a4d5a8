/** Adds the types of `actions.graphql` to `actions.yaml` of a project. */
import { isJsonObject, type Json } from "../../core/index.ts";
import { metadataUnreadable } from "./errors.ts";
import { type RawValue, type RawObject } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty } from "../shared/json-values.ts";

const readName = (rawValue: RawValue): string => String(readObjectOrEmpty(rawValue)["name"]);

/** Returns actions and custom types as an export in JSON has them. Entries of `actions.yaml` with types of their own
 *  stay as they are. @throws RelApiError `preset` with the file, line and column @rule G-MET-2 X-ACT-2 */
export const mergeActionSdl = async (rawValue: RawValue | undefined, sdl: string, file: string): Promise<RawObject> => {
  const { readActionSdl } = await import("../shared/action-sdl.ts");
  let sdlTypes: ReturnType<typeof readActionSdl>;
  try {
    sdlTypes = readActionSdl(sdl);
  } catch (error) {
    const { message, locations } = error as Error & {
      readonly locations?: readonly { line: number; column: number }[];
    };
    const [location] = locations ?? [];
    throw metadataUnreadable(location === undefined ? file : `${file}:${location.line}:${location.column}`, message);
  }
  const { actions, custom_types: listedTypes } = readObjectOrEmpty(rawValue);
  return {
    ...readObjectOrEmpty(rawValue),
    actions: readListOrEmpty(actions).map((entry) => {
      const action = readObjectOrEmpty(entry);
      const definition = { ...sdlTypes.definitions.get(readName(entry)), ...readObjectOrEmpty(action["definition"]) };
      return { ...action, definition };
    }),
    custom_types: isJsonObject(listedTypes)
      ? {
          ...listedTypes,
          ...Object.fromEntries(
            Object.entries(sdlTypes.customTypes).map(([key, types]) => [
              key,
              mergeTypes(readListOrEmpty(listedTypes[key]), types),
            ]),
          ),
        }
      : sdlTypes.customTypes,
  };
};

const mergeTypes = (listedTypes: readonly RawValue[], types: readonly RawObject[]): readonly Json[] => {
  const byName = new Map(types.map((type) => [readName(type), type]));
  return listedTypes.map((entry) => ({ ...byName.get(readName(entry)), ...readObjectOrEmpty(entry) }));
};
