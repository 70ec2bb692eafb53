/** Turns console messages, exceptions and log entries into event records. */
import type { EventDraft } from '../events/buffer.ts'

interface RemoteObject {
  readonly type: string
  readonly subtype?: string
  readonly value?: unknown
  readonly unserializableValue?: string
  readonly description?: string
  readonly preview?: {
    readonly description?: string
    readonly properties?: readonly { name: string; value?: string }[]
  }
}

interface CallFrame {
  readonly url: string
  readonly functionName: string
  readonly lineNumber: number
  readonly columnNumber: number
}

const levels: Record<string, string> = {
  warning: 'warn',
  verbose: 'debug',
  assert: 'error',
  error: 'error',
  debug: 'debug',
  info: 'info',
}

const levelOf = (type: string): string => levels[type] ?? 'log'

/** Returns the record of a console event, or undefined for other events. */
export function consoleDraft(method: string, params: Record<string, unknown>): EventDraft | undefined {
  if (method === 'Runtime.consoleAPICalled') {
    const { type, args, timestamp, stackTrace } = params as unknown as ConsoleCalled
    const data = { level: levelOf(type), text: args.map(textOf).join(' '), ...locationOf(stackTrace?.callFrames) }
    return { kind: 'console', type: 'log', ts: timestamp, data }
  }
  if (method === 'Runtime.exceptionThrown') {
    const { timestamp, exceptionDetails } = params as unknown as ExceptionThrown
    const { text, exception, url, lineNumber, columnNumber, stackTrace } = exceptionDetails
    const description = exception ? textOf(exception) : ''
    const message = [text, description].filter(Boolean).join(' ')
    const location = locationOf(stackTrace?.callFrames, { url: url ?? '', lineNumber, columnNumber, functionName: '' })
    return { kind: 'console', type: 'exception', ts: timestamp, data: { level: 'error', text: message, ...location } }
  }
  if (method === 'Log.entryAdded') {
    const { entry } = params as unknown as EntryAdded
    const { level, text, source, url, lineNumber, timestamp } = entry
    const location = { ...(url && { url }), ...(lineNumber !== undefined && { line: lineNumber + 1 }) }
    return { kind: 'console', type: 'entry', ts: timestamp, data: { level: levelOf(level), text, source, ...location } }
  }
  return undefined
}

/** Formats a value as the console would print it. */
function textOf(value: RemoteObject): string {
  if (value.type === 'string') return String(value.value)
  if (value.unserializableValue !== undefined) return value.unserializableValue
  if (value.value !== undefined) return JSON.stringify(value.value)
  const properties = value.preview?.properties
  if (properties && value.subtype !== 'error') {
    const inner = properties.map(({ name, value: shown }) => (value.subtype === 'array' ? shown : `${name}: ${shown}`))
    return value.subtype === 'array' ? `[${inner.join(', ')}]` : `{${inner.join(', ')}}`
  }
  return value.description ?? value.type
}

/** Returns the source location; lines and columns count from 1, as in editors. */
function locationOf(frames: readonly CallFrame[] | undefined, fallback?: CallFrame): Record<string, unknown> {
  const top = frames?.[0] ?? fallback
  if (!top) return {}
  const stack = frames?.map(
    ({ functionName, url, lineNumber, columnNumber }) =>
      `${functionName || '(anonymous)'} (${url}:${lineNumber + 1}:${columnNumber + 1})`,
  )
  const location = { ...(top.url && { url: top.url }), line: top.lineNumber + 1, column: top.columnNumber + 1 }
  if (stack && stack.length > 0) return { ...location, stack: stack.join('\n') }
  return location
}

interface Stack {
  readonly callFrames: readonly CallFrame[]
}

interface ConsoleCalled {
  readonly type: string
  readonly args: readonly RemoteObject[]
  readonly timestamp: number
  readonly stackTrace?: Stack
}

interface ExceptionThrown {
  readonly timestamp: number
  readonly exceptionDetails: {
    readonly text: string
    readonly exception?: RemoteObject
    readonly url?: string
    readonly lineNumber: number
    readonly columnNumber: number
    readonly stackTrace?: Stack
  }
}

interface EntryAdded {
  readonly entry: {
    readonly level: string
    readonly text: string
    readonly source: string
    readonly url?: string
    readonly lineNumber?: number
    readonly timestamp: number
  }
}
