/** The log of a server on its standard error: one JSON object per line, or text for humans. */
import { type Log, type LogFormat, type LogLevel, logLevels } from '../../core/config/config.ts'
import { redactFacts, redactLine } from '../../core/access/redact.ts'

export interface LogOptions {
  readonly level: LogLevel
  readonly format: LogFormat
  readonly write: (line: string) => void
}

/** Opens the log. Secrets are redacted in both formats. */
export async function openLog({ level, format, write }: LogOptions): Promise<Log> {
  const writeEvent = format === 'json' ? await jsonLines(level, write) : textLines(level, write)
  return (at, message, facts) =>
    writeEvent(at, redactLine(message), redactFacts(facts ?? {}) as Record<string, unknown>)
}

type WriteEvent = (level: LogLevel, message: string, facts: Record<string, unknown>) => void

/** `{"level":"info","time":"…","message":"…", …facts}` */
async function jsonLines(level: LogLevel, write: (line: string) => void): Promise<WriteEvent> {
  const { default: pino } = await import('pino')
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  )
  return (at, message, facts) => logger[at](facts, message)
}

/** `12:00:00.123 info  message key=value` */
function textLines(minLevel: LogLevel, write: (line: string) => void): WriteEvent {
  return (level, message, facts) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(minLevel)) return
    const time = new Date().toISOString().slice(11, 23)
    const values = Object.entries(facts).flatMap(([name, value]) =>
      value === undefined || value === null
        ? []
        : [`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`],
    )
    write(`${time} ${level.padEnd(5)} ${[message, ...values].join(' ').replaceAll(/[\r\n]+/g, ' ')}\n`)
  }
}
