/** Turns events of a page, its console and its log into event records. */
import type { EventDraft } from '../events/buffer.ts'
import { type EventParams, readEvent, type Readers } from '../cdp-types.ts'

type RemoteObject = EventParams<'Runtime.consoleAPICalled'>['args'][number]
type CallFrame = NonNullable<EventParams<'Runtime.consoleAPICalled'>['stackTrace']>['callFrames'][number]

const levels: Record<string, string> = {
  warning: 'warn',
  verbose: 'debug',
  assert: 'error',
  error: 'error',
  debug: 'debug',
  info: 'info',
}

const levelOf = (type: string): string => levels[type] ?? 'log'

/** Returns the record of an event; undefined for other events, and for the navigation of child frames. */
export const pageDraft = (method: string, params: Record<string, unknown>): EventDraft | undefined =>
  readEvent(readers, method, params)

const readers: Readers<EventDraft | undefined> = {
  'Runtime.consoleAPICalled': ({ type, args, timestamp, stackTrace }) => {
    const data = { level: levelOf(type), text: args.map(textOf).join(' '), ...locationOf(stackTrace?.callFrames) }
    return { kind: 'console', type: 'log', ts: timestamp, data }
  },
  'Runtime.exceptionThrown': ({ timestamp, exceptionDetails }) => {
    const { text, exception, url = '', lineNumber, columnNumber, stackTrace } = exceptionDetails
    const message = [text, exception ? textOf(exception) : ''].filter(Boolean).join(' ')
    const location = locationOf(stackTrace?.callFrames, { url, lineNumber, columnNumber })
    return { kind: 'console', type: 'exception', ts: timestamp, data: { level: 'error', text: message, ...location } }
  },
  'Log.entryAdded': ({ entry }) => {
    const { level, text, source, url, lineNumber, timestamp } = entry
    const location = { ...(url && { url }), ...(lineNumber !== undefined && { line: lineNumber + 1 }) }
    return { kind: 'console', type: 'entry', ts: timestamp, data: { level: levelOf(level), text, source, ...location } }
  },
  'Page.frameNavigated': ({ frame: { id, parentId, url, urlFragment = '' } }) =>
    parentId ? undefined : onPage('navigated', { url: url + urlFragment }, id),
  'Page.navigatedWithinDocument': ({ url, frameId }) => onPage('navigated', { url, same_document: true }, frameId),
  'Page.loadEventFired': () => onPage('load', {}),
  'Page.javascriptDialogOpening': ({ type, message, url }) => onPage('dialog', { kind: type, text: message, url }),
  'Page.downloadWillBegin': ({ url, suggestedFilename }) => onPage('download', { url, filename: suggestedFilename }),
  'Inspector.targetCrashed': () => onPage('crashed', {}),
}

const onPage = (type: string, data: Record<string, unknown>, frame_id?: string): EventDraft => ({
  kind: 'page',
  ts: Date.now(),
  type,
  data,
  ...(frame_id !== undefined && { frame_id }),
})

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
function locationOf(
  frames: readonly CallFrame[] = [],
  fallback?: Pick<CallFrame, 'url' | 'lineNumber' | 'columnNumber'>,
): Record<string, unknown> {
  const top = frames[0] ?? fallback
  if (!top) return {}
  const stack = frames.map(
    ({ functionName, url, lineNumber, columnNumber }) =>
      `${functionName || '(anonymous)'} (${url}:${lineNumber + 1}:${columnNumber + 1})`,
  )
  return {
    ...(top.url && { url: top.url }),
    line: top.lineNumber + 1,
    column: top.columnNumber + 1,
    ...(stack.length > 0 && { stack: stack.join('\n') }),
  }
}
