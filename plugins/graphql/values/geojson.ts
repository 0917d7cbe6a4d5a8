/** Checks GeoJSON input before the database receives it. @rule G-TYP-34 */
import type { Json } from "../../../core/index.ts";
import { parseFailed } from "../errors.ts";
import { isPlainObject, nameJsonKind } from "./leaf.ts";
import { getNumberText } from "./numbers.ts";

type Check = (coordinates: Json, path: string) => void;

const requireList = (coordinates: Json, path: string): readonly Json[] => {
  if (!Array.isArray(coordinates))
    throw parseFailed(`parsing [] failed, expected Array, but encountered ${nameJsonKind(coordinates)}`, path);
  return coordinates as readonly Json[]; // Array.isArray does not narrow readonly arrays
};

const checkPosition: Check = (position, path) => {
  const numbers = requireList(position, path);
  if (numbers.length < 2) throw parseFailed("A Position needs at least 2 elements", path);
  for (const number of numbers) {
    if (getNumberText(number) === undefined)
      throw parseFailed(`parsing Double failed, expected Number, but encountered ${nameJsonKind(number)}`, path);
  }
};

const checkEach =
  (check: Check): Check =>
  (coordinates, path) => {
    for (const part of requireList(coordinates, path)) check(part, path);
  };

const checkLine: Check = (line, path) => {
  const positions = requireList(line, path);
  if (positions.length < 2) throw parseFailed("A LineString needs at least 2 Positions", path);
  checkEach(checkPosition)(line, path);
};

const checkRing: Check = (ring, path) => {
  const positions = requireList(ring, path);
  if (positions.length < 4) throw parseFailed("A LinearRing needs at least 4 Positions", path);
  checkEach(checkPosition)(ring, path);
  const formatPosition = (position: Json | undefined): string =>
    // `checkPosition` has checked the position.
    (position as readonly Json[]).map((number) => Number(getNumberText(number))).join();
  if (formatPosition(positions[0]) !== formatPosition(positions[positions.length - 1]))
    throw parseFailed("the first and last locations have to be equal for a LinearRing", path);
};

const COORDINATES: ReadonlyMap<string, Check> = new Map([
  ["Point", checkPosition],
  ["MultiPoint", checkEach(checkPosition)],
  ["LineString", checkLine],
  ["MultiLineString", checkEach(checkLine)],
  ["Polygon", checkEach(checkRing)],
  ["MultiPolygon", checkEach(checkEach(checkRing))],
]);

/** Checks a GeoJSON object. @throws RelApiError `parse-failed` with the path of the column value */
export const checkGeoJson = (value: Json, path: string): void => {
  if (!isPlainObject(value))
    throw parseFailed(`parsing Geometry failed, expected Object, but encountered ${nameJsonKind(value)}`, path);
  const readMember = (key: string): Json => {
    const memberValue = Object.hasOwn(value, key) ? value[key] : undefined;
    if (memberValue === undefined) throw parseFailed(`key "${key}" not found`, path);
    return memberValue;
  };
  const type = readMember("type");
  if (typeof type !== "string")
    throw parseFailed(`parsing Text failed, expected String, but encountered ${nameJsonKind(type)}`, path);
  if (type === "GeometryCollection") {
    for (const part of requireList(readMember("geometries"), path)) checkGeoJson(part, path);
    return;
  }
  const check = COORDINATES.get(type);
  if (check === undefined) throw parseFailed(`unexpected geometry type: ${type}`, path);
  check(readMember("coordinates"), path);
};
