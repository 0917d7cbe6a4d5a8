/** Marks in text, in whose places names are filled in. */
import { randomBytes } from "node:crypto";

/** Text with places. */
export interface Pattern {
  /** One more than there are places. */
  readonly texts: readonly string[];
  /** Numbers of what stands between them. */
  readonly places: readonly number[];
}

export interface Marks {
  /** A legal name of GraphQL. */
  mark(place: number): string;
  read(text: string): Pattern;
}

/** Nobody can have put them into a schema, since they are drawn by lot when they are needed. */
export const createMarks = (): Marks => {
  const own = `m${randomBytes(12).toString("hex")}x`;
  const marked = new RegExp(`${own}(\\d+)x`);
  return {
    mark: (place) => `${own}${place}x`,
    read: (text) => {
      if (!text.includes(own)) return { texts: [text], places: [] };
      const parts = text.split(marked);
      return {
        texts: parts.filter((_, i) => i % 2 === 0),
        places: parts.filter((_, i) => i % 2 === 1).map(Number),
      };
    },
  };
};

export const fill = ({ texts, places }: Pattern, values: readonly string[]): string => {
  let text = texts[0]!; // there is one more than places
  for (let i = 0; i < places.length; i++) text += values[places[i]!]! + texts[i + 1]!; // a value for each place
  return text;
};
