/** Counts of the commands that the script of a session leaves out. */
import type { SessionScript } from '../../shapes/recording.ts'

/** Returns the number of commands by reason, such as `2 (failed), 1 (a person had control)`. */
export function leftOutText(leftOut: SessionScript['left_out']): string {
  const reasons = new Map<string, number>()
  for (const { reason } of leftOut) {
    const kind = reason.replace(/[:] .*| by command \d+$| command \d+$/, '')
    reasons.set(kind, (reasons.get(kind) ?? 0) + 1)
  }
  return [...reasons].map(([kind, count]) => `${count} (${kind})`).join(', ')
}
