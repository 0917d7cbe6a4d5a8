/** Finds the surfaces that may serve a path. */
import type { Logger } from "../kernel/options.ts";
import { buildErrorFields, attributeError } from "../kernel/plugin-errors.ts";
import type { AddedSurface } from "./exchange.ts";

interface PathPrefix {
  readonly prefix: string;
  readonly surface: AddedSurface;
}

/** All prefixes and paths, in the order of the surfaces. */
export interface Paths {
  /** The candidates for each complete path, including surfaces with a matching prefix. */
  readonly exact: ReadonlyMap<string, readonly PathPrefix[]>;
  readonly prefixes: readonly PathPrefix[];
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

const isPrefixPattern = (path: string): boolean => path.endsWith("*");

const covers = (pattern: string, path: string): boolean =>
  isPrefixPattern(pattern) ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

export const readPaths = (surfaces: readonly AddedSurface[], logger: Logger): Paths => {
  const surfacePaths = surfaces.map((surface) => ({ surface, paths: readSurfacePaths(surface, logger) }));
  const exactPaths = new Set(surfacePaths.flatMap(({ paths }) => paths.filter((path) => !isPrefixPattern(path))));
  return {
    exact: new Map(
      [...exactPaths].map((path) => [
        path,
        surfacePaths.flatMap(({ surface, paths }) =>
          paths.some((pattern) => covers(pattern, path)) ? [{ prefix: path, surface }] : [],
        ),
      ]),
    ),
    prefixes: surfacePaths.flatMap(({ surface, paths }) =>
      paths.filter(isPrefixPattern).map((path) => ({ prefix: path.slice(0, -1), surface })),
    ),
  };
};
