/** What a client wants most. */

/** Parameters of the media type, in lower case, if it comes first in `Accept`; undefined: it does not. */
export const acceptsFirst = (accept: string | undefined, type: string): string | undefined => {
  const [first = ""] = accept?.split(",", 1) ?? [];
  const [name = "", ...parameters] = first.split(";");
  return name.trim().toLowerCase() === type ? parameters.join(";").toLowerCase() : undefined;
};
