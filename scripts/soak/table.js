// Results of a soak test as Markdown tables.

const line = (cells) => `| ${cells.join(' | ')} |\n`
const table = (columns, rows) => `${line(columns)}${line(columns.map(() => '---'))}${rows.map(line).join('')}\n`
const rank = (sorted, share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))])

/** Durations of units by kind. */
export function timesOf({ done }) {
  const rows = [...done].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return table(
    ['work', 'done', 'median ms', '95 of 100 within ms', 'slowest ms'],
    rows.map(([kind, times]) => {
      const sorted = times.toSorted((a, b) => a - b)
      return [kind, sorted.length, rank(sorted, 0.5), rank(sorted, 0.95), rank(sorted, 1)]
    }),
  )
}

/** Memory over time, in ten steps. */
export function memoryTable(samples) {
  const step = Math.max(1, Math.floor(samples.length / 10))
  return table(
    ['second', 'server MB', 'with browsers MB'],
    samples
      .filter((_, at) => at % step === step - 1)
      .map(({ at, server, all }) => [Math.round(at), Math.round(server), Math.round(all)]),
  )
}

/** Errors by their text, the most frequent first. */
export function errorsOf({ errors }) {
  if (errors.size === 0) return ''
  const rows = [...errors.values()].toSorted((a, b) => b.count - a.count).slice(0, 20)
  return table(
    ['errors', 'for example'],
    rows.map(({ count, example }) => [count, example.replaceAll(/[|\n]/g, ' ')]),
  )
}

/** Requirements, and whether they were met. */
export const verdictsOf = (verdicts) =>
  table(
    ['what must hold', 'found', 'holds'],
    verdicts.map(({ sentence, found, holds }) => [sentence, found, holds ? 'yes' : '**NO**']),
  )

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0
