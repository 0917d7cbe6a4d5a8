/** Finds the surfaces that may serve a path. */
import type { Logger } from "../kernel/options.ts";
import { buildErrorFields, attributeError } from "../kernel/plugin-errors.ts";
import type { AddedSurface } from "./exchange.ts";

/** A surface and the paths and prefixes that it may serve. */
export interface SurfacePaths {
  readonly surface: AddedSurface;
  readonly paths: readonly string[];
}

const EVERY_PATH: readonly string[] = ["*"];

const readSurfacePaths = (surface: AddedSurface, logger: Logger): readonly string[] => {
  try {
    return surface.paths?.() ?? EVERY_PATH;
  } catch (error) {
    // the surface then serves no requests
    logger.error(
      "a plugin failed",
      buildErrorFields(attributeError(surface.plugin, `addSurface("${surface.name}").paths`, error)),
    );
    return [];
  }
};

/** Returns whether the pattern is the path, or a prefix of it such as `/soap/*`. */
export const covers = (pattern: string, path: string): boolean =>
  pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

/** Returns the paths of each surface, in the order of the surfaces. */
export const readPaths = (surfaces: readonly AddedSurface[], logger: Logger): readonly SurfacePaths[] =>
  surfaces.map((surface) => ({ surface, paths: readSurfacePaths(surface, logger) }));
