/** Draws a terminal session as an SVG whose lines appear one after the other, and stay. */

export interface Line {
  readonly text: string;
  /** A line that a person types, after a prompt. */
  readonly isCommand?: boolean;
}

const COLUMNS = 92;
const FONT_SIZE = 13;
const CHARACTER_WIDTH = FONT_SIZE * 0.602;
const LINE_HEIGHT = 20;
const PADDING = 18;
const BAR_HEIGHT = 34;
/** The pause between a command and its output, and the pause between lines of output. */
const COMMAND_SECONDS = 1.1;
const LINE_SECONDS = 0.06;

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Lines as a terminal wraps them. */
const wrapLine = ({ text, isCommand = false }: Line): readonly (Line & { readonly isFirst: boolean })[] => {
  const displayedText = isCommand ? `$ ${text}` : text;
  const rows: string[] = [];
  for (const line of displayedText.split("\n"))
    for (let start = 0; start === 0 || start < line.length; start += COLUMNS)
      rows.push(line.slice(start, start + COLUMNS));
  return rows.map((row, index) => ({ text: row, isCommand, isFirst: index === 0 }));
};

export const terminalSvg = (title: string, lines: readonly Line[]): string => {
  const rows = lines.flatMap(wrapLine);
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * PADDING);
  const height = BAR_HEIGHT + rows.length * LINE_HEIGHT + 2 * PADDING - 6;
  let seconds = 0.3;
  const texts = rows.map(({ text, isCommand = false, isFirst }, index) => {
    const y = BAR_HEIGHT + PADDING + FONT_SIZE - 3 + index * LINE_HEIGHT;
    if (isCommand && isFirst && index > 0) seconds += 0.8;
    const delay = seconds.toFixed(2);
    const isLastOfCommand = isCommand && rows[index + 1]?.isCommand !== true;
    seconds += isLastOfCommand ? COMMAND_SECONDS : isCommand ? 0 : LINE_SECONDS;
    const markup = isCommand && isFirst ? `<tspan class="p">$ </tspan>${escapeXml(text.slice(2))}` : escapeXml(text);
    return `<text class="${isCommand ? "c" : "o"}" x="${PADDING}" y="${y}" style="animation-delay:${delay}s" xml:space="preserve">${markup}</text>`;
  });
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (color, index) => `<circle cx="${PADDING + 4 + index * 18}" cy="${BAR_HEIGHT / 2}" r="5.5" fill="${color}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; opacity: 0; animation: appear 0.01s forwards; }
.c { fill: #f0f3f6; font-weight: 600; } .o { fill: #b8c0ca; } .p { fill: #6cb6ff; }
@keyframes appear { to { opacity: 1; } }
@media (prefers-reduced-motion: reduce) { text { animation-delay: 0s !important; } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#1b1f24"/>
${dots.join("")}
${texts.join("\n")}
</svg>
`;
};
