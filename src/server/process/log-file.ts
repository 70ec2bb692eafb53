/** A log file with one line per event, rotated at a size limit. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { type Log, type LogLevel, logLevels } from '../../core/config/config.ts'
import { limits } from '../../core/limits/limits.ts'
import { redactFacts, redactLine } from '../../core/access/redact.ts'

/** Opens a log file. Writes are synchronous, so that a crash loses no line. The previous file is `<path>.1`. */
export function openLogFile(path: string, minLevel: LogLevel = 'info'): Log {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let lost = 0
  return (level, message, facts) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(minLevel)) return
    const missing = lost > 0 ? ` (${lost} earlier lines could not be written)` : ''
    const factsText = facts ? ` ${JSON.stringify(redactFacts(facts))}` : ''
    const line = `${new Date().toISOString()} ${level.padEnd(5)} ${redactLine(message).replaceAll(/[\r\n]+/g, ' ')}${missing}${factsText}\n`
    try {
      if (size > 0 && size + line.length > limits.engine.logBytes) {
        renameSync(path, `${path}.1`)
        size = 0
      }
      appendFileSync(path, line, { mode: 0o600 })
      size += Buffer.byteLength(line)
      lost = 0
    } catch (error) {
      // A full or read-only disk must not fail the logged work; the next line written reports the number of lost ones.
      if (!(error as NodeJS.ErrnoException).syscall) throw error
      lost += 1
    }
  }
}
