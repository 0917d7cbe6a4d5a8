/** Finds the surfaces that may serve a path. */
import type { Logger } from "../settings/options.ts";
import { buildErrorFields, attributeError } from "../kernel/plugin-errors.ts";
import type { AddedSurface } from "./exchange.ts";

type PathTest = (path: string) => boolean;

/** A surface and the tests of the paths and prefixes that it may serve. */
export interface SurfacePaths {
  readonly surface: AddedSurface;
  readonly tests: readonly PathTest[];
}

const EVERY_PATH: readonly string[] = ["*"];

const readSurfacePaths = (surface: AddedSurface, logger: Logger): readonly string[] => {
  try {
    return surface.paths?.() ?? EVERY_PATH;
  } catch (error) {
    // The surface then serves no requests.
    logger.error(
      "a plugin failed",
      buildErrorFields(attributeError(surface.plugin, `addSurface("${surface.name}").paths`, error)),
    );
    return [];
  }
};

/** Creates the test of a path, or of a prefix such as `/soap/*`. */
const createTest = (pattern: string): PathTest => {
  if (!pattern.endsWith("*")) return (path) => path === pattern;
  const prefix = pattern.slice(0, -1);
  return (path) => path.startsWith(prefix);
};

/** Returns the tests of each surface, in the order of the surfaces. */
export const readPaths = (surfaces: readonly AddedSurface[], logger: Logger): readonly SurfacePaths[] =>
  surfaces.map((surface) => ({ surface, tests: readSurfacePaths(surface, logger).map(createTest) }));
