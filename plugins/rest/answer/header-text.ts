/**
 * Encodes text for a header: as UTF-8 bytes, with control characters percent-encoded, so that no value can start
 * another header.
 */
export const encodeHeaderText = (text: string): string => {
  if (/^[ -~]*$/.test(text)) return text;
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  return bytes.replace(
    /[^ -~\u0080-\u00ff]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
};
