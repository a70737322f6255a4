export interface Panel {
  title: string;
  /** One value a second for each line. */
  lines: Record<string, readonly number[]>;
}

const WIDTH = 960;
const PANEL = 220;
const LEFT = 70;
const TOP = 40;
const COLOURS = ['#1f6feb', '#d1242f', '#2da44e', '#bf8700'];

/** Panels below each other, all with the time from left to right, as an SVG document. */
export function drawGraph(heading: string, panels: readonly Panel[]): string {
  const height = TOP + panels.length * PANEL;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="24" font-size="16">${heading}</text>`,
    ...panels.map((panel, index) => drawPanel(panel, TOP + index * PANEL)),
    '</svg>\n',
  ].join('\n');
}

function drawPanel({ title, lines }: Panel, top: number): string {
  const all = Object.values(lines).flat();
  const high = Math.max(...all, 1) * 1.05;
  const seconds = Math.max(...Object.values(lines).map((values) => values.length), 2);
  const [width, height] = [WIDTH - LEFT - 20, PANEL - 60];
  const x = (second: number) => LEFT + (second / (seconds - 1)) * width;
  const y = (value: number) => top + 24 + height - (value / high) * height;
  const drawn = [`<text x="${LEFT}" y="${top + 14}">${title}</text>`];
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const value = part * high;
    const label = value >= 10 ? Math.round(value) : value.toFixed(1);
    drawn.push(
      `<line x1="${LEFT}" x2="${LEFT + width}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end" fill="#555">${label}</text>`,
      `<text x="${LEFT + part * width}" y="${top + height + 40}" text-anchor="middle" fill="#555">${Math.round(part * (seconds - 1))} s</text>`,
    );
  }
  Object.entries(lines).forEach(([name, values], index) => {
    const colour = COLOURS[index % COLOURS.length];
    const points = values.map((value, second) => `${x(second).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    drawn.push(
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
      `<text x="${LEFT + 260 + index * 130}" y="${top + 14}" fill="${colour}">${name}</text>`,
    );
  });
  return drawn.join('\n');
}
