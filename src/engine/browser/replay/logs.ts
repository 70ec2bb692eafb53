/** The events of a session as the lists of a replay: console, network, downloads, people, page. */
import { eventFacts } from '../../../core/events/event-line.ts'
import type { SessionEvent } from '../../../core/events/events.ts'

export interface LogLine {
  readonly seq: number
  readonly at: number
  readonly list: LogList
  readonly text: string
  /** Set for errors. */
  readonly isBad: boolean
}

export const logLists = ['Console', 'Network', 'Downloads', 'People', 'Page'] as const

type LogList = (typeof logLists)[number]

/** Converts events to lines; a request and its response become one, where the request was sent. */
export function logLines(events: readonly SessionEvent[]): LogLine[] {
  const answers = new Map(
    events
      .filter(({ type }) => type === 'network.response' || type === 'network.failed')
      .map((event) => [event.data['request_id'], event]),
  )
  return events.flatMap((event) => {
    const { seq, type, data } = event
    if (type === 'network.response' || type === 'network.failed') return []
    const answer = type === 'network.request' ? answers.get(data['request_id']) : undefined
    const line = { seq, at: Date.parse(event.ts), list: listOf(type) }
    if (type === 'network.request') return [{ ...line, ...requestLine(event, answer) }]
    return [{ ...line, text: textOf(event), isBad: isBad(event) }]
  })
}

function requestLine({ data, ts }: SessionEvent, answer: SessionEvent | undefined) {
  const { method, url, resource_type: kind } = data
  if (!answer) return { text: `no response  ${String(method)} ${String(url)} (${String(kind)})`, isBad: false }
  const { status, error, content_type: type } = answer.data
  const ms = Date.parse(answer.ts) - Date.parse(ts)
  const outcome = error === undefined ? String(status) : `failed: ${String(error)}`
  const text = `${outcome}  ${method} ${url} (${[kind, type].filter(Boolean).join(', ')}, ${ms} ms)`
  return { text, isBad: error !== undefined || Number(status) >= 400 }
}

function textOf({ type, data }: SessionEvent): string {
  if (type === 'console' || type === 'page.error')
    return `${type === 'page.error' ? 'error: ' : ''}${eventFacts(type, data)}`
  return `${type}  ${eventFacts(type, data)}`
}

const isBad = ({ type, data }: SessionEvent): boolean =>
  type === 'page.error' ||
  type === 'error' ||
  type === 'network.blocked' ||
  (type === 'console' && data['level'] === 'error') ||
  (type === 'download.finished' && data['success'] === false) ||
  (type === 'approval.decided' && data['decision'] !== 'approved')

function listOf(type: SessionEvent['type']): LogList {
  if (type === 'console' || type === 'page.error') return 'Console'
  if (type.startsWith('network.')) return 'Network'
  if (type.startsWith('download.')) return 'Downloads'
  return /^(?:approval|control|handoff|credential)\./.test(type) ? 'People' : 'Page'
}
