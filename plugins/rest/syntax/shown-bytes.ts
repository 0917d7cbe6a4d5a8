/** Shows bytes in messages of the CSV reader. */

const QUOTE = 0x22;

const CONTROL_NAMES = [
  "NUL",
  "SOH",
  "STX",
  "ETX",
  "EOT",
  "ENQ",
  "ACK",
  "a",
  "b",
  "t",
  "n",
  "v",
  "f",
  "r",
  "SO",
  "SI",
  "DLE",
  "DC1",
  "DC2",
  "DC3",
  "DC4",
  "NAK",
  "SYN",
  "ETB",
  "CAN",
  "EM",
  "SUB",
  "ESC",
  "FS",
  "GS",
  "RS",
  "US",
];

/** Bytes as the inside of a Haskell string literal: `\"`, `\n`, `\195\169`. */
export const escapeBytes = (bytes: Uint8Array): string => {
  let text = "";
  let isAfterNumericEscape = false;
  let isAfterShiftOut = false;
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    // `\&` ends an escape that the next character would prolong
    if ((isAfterNumericEscape && byte >= 0x30 && byte <= 0x39) || (isAfterShiftOut && character === "H")) text += "\\&";
    isAfterNumericEscape = byte > 0x7f;
    isAfterShiftOut = byte === 0x0e;
    if (byte === QUOTE) text += '\\"';
    else if (byte === 0x5c) text += "\\\\";
    else if (byte < 0x20) text += `\\${CONTROL_NAMES[byte]!}`; // there are 32 names
    else if (byte === 0x7f) text += "\\DEL";
    else if (byte > 0x7f) text += `\\${byte}`;
    else text += character;
  }
  return text;
};
