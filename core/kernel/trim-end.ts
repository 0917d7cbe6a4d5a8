/** Removes a character from the end of the text. An expression such as `/x+$/` takes quadratic time. */
export const trimEndCharacter = (text: string, character: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
};
