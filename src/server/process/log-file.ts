/** A log file of one line per event, kept below a size by moving the full one aside. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import type { Log } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { type LogLevel, logLevels } from '../../core/config/log-format.ts'
import { redactFacts, redactLine } from '../../core/access/redact.ts'

/**
 * Opens a log; a line is written at once, so that none is lost when the process is killed.
 * The full file before the present one is kept as `<path>.1`.
 */
export function openLogFile(path: string, least: LogLevel = 'info'): Log {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let lost = 0
  return (level, message, facts) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(least)) return
    const missing = lost > 0 ? ` (${lost} lines before this one could not be written)` : ''
    const told = facts ? ` ${JSON.stringify(redactFacts(facts))}` : ''
    const line = `${new Date().toISOString()} ${level.padEnd(5)} ${redactLine(message).replaceAll(/[\r\n]+/g, ' ')}${missing}${told}\n`
    try {
      if (size > 0 && size + line.length > limits.engine.logBytes) {
        renameSync(path, `${path}.1`)
        size = 0
      }
      appendFileSync(path, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
      lost = 0
    } catch (error) {
      // A disk that is full or read-only must not fail the work that is being logged; the next line that fits says what is missing.
      if (!(error as NodeJS.ErrnoException).syscall) throw error
      lost += 1
    }
  }
}
