// Rows of DESIGN.md section 8: our value, the reference, how they stand to each other, the budget, and whether it holds.

const ms = (value) => `${value < 10 ? value.toFixed(3) : value.toFixed(1)} ms`;
const formats = {
  ms,
  MB: (value) => `${value.toFixed(1)} MB`,
  KB: (value) => `${value.toFixed(1)} KB`,
  'calls/s': (value) => `${Math.round(value).toLocaleString('en')}/s`,
};

/** Ours may be at most `limit` times the reference. */
export const atMost = (limit) => ({
  budget: `≤ ${limit} ×`,
  figure: (ours, reference) => ours / reference,
  show: (figure) => `${figure.toFixed(2)} ×`,
  holds: (figure) => figure <= limit,
});

/** Ours must be at least `limit` times better: more calls a second, or less time. */
export const atLeast = (limit) => ({
  budget: `≥ ${limit} × better`,
  figure: (ours, reference, unit) => (unit === 'calls/s' ? ours / reference : reference / ours),
  show: (figure) => `${figure.toFixed(1)} × better`,
  holds: (figure) => figure >= limit,
});

/** Ours may be at most `limit` more than the reference, in its own unit. */
export const atMostMore = (limit, unit = 'MB') => ({
  budget: `≤ +${limit} ${unit}`,
  figure: (ours, reference) => ours - reference,
  show: (figure) => `${figure < 0 ? '' : '+'}${figure.toFixed(1)} ${unit}`,
  holds: (figure) => figure <= limit,
});

/** Ours may be at most the reference, which is a limit and not a measurement. */
export const within = {
  budget: 'within it',
  figure: (ours, limit) => ours / limit,
  show: (figure) => `${(figure * 100).toFixed(0)} %`,
  holds: (figure) => figure <= 1,
};

/** One row; `reference` is a pair of name and value. */
export function row(what, unit, ours, [referenceName, reference], rule) {
  const figure = rule.figure(ours, reference, unit);
  const { budget } = rule;
  return {
    what,
    unit,
    ours,
    referenceName,
    reference,
    figure,
    budget,
    ok: rule.holds(figure),
    shown: rule.show(figure),
  };
}

export function printTable(groups, machine) {
  console.log(`${machine}\n`);
  console.log('| What | Ours | Reference | Ratio | Budget | |\n|---|---|---|---|---|---|');
  for (const one of groups.flatMap((group) => group.rows)) {
    const format = formats[one.unit];
    const reference = `${one.referenceName} ${format(one.reference)}`;
    console.log(
      `| ${one.what} | ${format(one.ours)} | ${reference} | ${one.shown} | ${one.budget} | ${one.ok ? 'holds' : '**MISSED**'} |`,
    );
  }
  console.log('\nAll figures of this run:\n\n| Row | What was run | Figures |\n|---|---|---|');
  for (const { name, ran, figures } of groups) {
    const shown = figures.map(([who, unit, value]) => `${who} ${formats[unit](value)}`);
    console.log(`| ${name} | ${ran} | ${shown.join('<br>')} |`);
  }
}
