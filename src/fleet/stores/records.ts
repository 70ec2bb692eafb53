/** Records in Redis, which are checked like files. */
import type { StateKind } from '../../core/state/state-record.ts'

/** Builds a warning that names damaged records; undefined when there are none. */
export function damageWarning({ name }: Pick<StateKind, 'name'>, damaged: readonly string[]): string | undefined {
  if (damaged.length === 0) return undefined
  const shown = damaged.slice(0, mostNamed).join(', ')
  const more = damaged.length > mostNamed ? ` and ${damaged.length - mostNamed} more` : ''
  return `skipped because damaged in Redis (${name}): ${shown}${more}`
}

const mostNamed = 5
