/** The events of a session as the lists of a replay: console, network, downloads, people, page. */
import { eventFacts } from '../../../core/events/event-line.ts'
import type { SessionEvent } from '../../../core/events/events.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import { lastingTypes } from '../network/request-log.ts'

export interface LogLine {
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly list: LogList
  readonly text: string
  /** Set for errors. */
  readonly isBad: boolean
  /** The fact in it that may explain a later failure. */
  readonly flag?: string | undefined
  /** Time of the response to a request, in milliseconds since the epoch; Infinity without one. */
  readonly answeredAt?: number
}

export const logLists = ['Console', 'Network', 'Downloads', 'People', 'Page'] as const

type LogList = (typeof logLists)[number]

/** Beginning of the flag of a tab that was opened beside another. */
export const newTab = 'opened a new tab:'

/** Age at which a request without a response is flagged. */
const lateMs = 1000

/** The response to a request, and the time at which the recording ended. */
interface RequestOutcome {
  readonly answer: SessionEvent | undefined
  /** URL that its response redirects to. */
  readonly target: string | undefined
  /** When the recording ended, in milliseconds since the epoch. */
  readonly until: number
}

/** Converts events to lines; a request and its response become one, where the request was sent. */
export function logLines(events: readonly SessionEvent[], until: number): LogLine[] {
  const answers = new Map(events.filter(isAnswer).map((event) => [event.data['request_id'], event]))
  const targets = new Map(events.map(({ data }) => [data['redirected_from'], String(data['url'])]))
  const failedUrls = new Set(events.filter(isFailedRequest).map(({ data }) => data['url']))
  return events.flatMap((event, at) => {
    const { seq, type, data } = event
    if (isAnswer(event)) return []
    const line = { seq, at: Date.parse(event.ts), list: listOf(type) }
    if (type === 'network.request') {
      const id = data['request_id']
      return [{ ...line, ...requestLine(event, { answer: answers.get(id), target: targets.get(id), until }) }]
    }
    // The browser also reports a failed request in the console.
    const isRepeated =
      type === 'console' && failedUrls.has(data['url']) && String(data['text']).startsWith('Failed to load')
    const flag = isRepeated ? undefined : flagOf(event, () => isClosed(events, at))
    return [{ ...line, text: textOf(event), isBad: isBad(event), flag }]
  })
}

const isAnswer = ({ type }: SessionEvent): boolean => type === 'network.response' || type === 'network.failed'

const isFailedRequest = ({ type, data }: SessionEvent): boolean =>
  type === 'network.failed' || Number(data['status']) >= 400

/** Returns whether the dialog that an event opens is closed later. */
function isClosed(events: readonly SessionEvent[], opened: number): boolean {
  const tab = events[opened]!.data['tab_id']
  const next = events.slice(opened + 1).find(({ type, data }) => type.startsWith('dialog.') && data['tab_id'] === tab)
  return next?.type === 'dialog.closed'
}

function requestLine({ data, ts }: SessionEvent, { answer, target, until }: RequestOutcome) {
  const { resource_type: kind } = data
  const request = `${String(data['method'])} ${String(data['url'])}`
  const waits = lastingTypes.has(kind) ? {} : { answeredAt: answer ? Date.parse(answer.ts) : Infinity }
  if (!answer) {
    const ms = until - Date.parse(ts)
    const flag = 'answeredAt' in waits && ms >= lateMs ? `${request}: no response after ${readableMs(ms)}` : undefined
    return { text: `no response  ${request} (${String(kind)})`, isBad: false, flag, ...waits }
  }
  const { status, error, content_type: type } = answer.data
  const ms = Date.parse(answer.ts) - Date.parse(ts)
  const outcome = error === undefined ? String(status) : `failed: ${String(error)}`
  const redirect = target === undefined ? '' : `, redirected to ${target}`
  return {
    text: `${outcome}  ${request} (${[kind, type].filter(Boolean).join(', ')}, ${ms} ms${redirect})`,
    isBad: error !== undefined || Number(status) >= 400,
    flag: outcomeFlag(request, data, answer.data, target),
    ...waits,
  }
}

/** Returns the flag of an answered request: it failed, or its page is another one than that requested. */
function outcomeFlag(
  request: string,
  { method, url, resource_type: kind }: SessionEvent['data'],
  { status, error }: SessionEvent['data'],
  target: string | undefined,
): string | undefined {
  // Pages abort requests when they are left.
  if (error !== undefined) return /ERR_ABORTED/.test(String(error)) ? undefined : `${request} failed: ${String(error)}`
  if (Number(status) >= 400) return `${request} ${String(status)}`
  const isOther = target !== undefined && pathOf(target) !== pathOf(String(url))
  return kind === 'document' && method === 'GET' && isOther
    ? `${request} ${String(status)}, redirected to ${target}`
    : undefined
}

const pathOf = (url: string): string | undefined => URL.parse(url)?.pathname.replace(/\/$/, '')

/** Returns the flag of an event other than a request; undefined for most events. */
function flagOf(event: SessionEvent, closes: () => boolean): string | undefined {
  const { type, data } = event
  const dialog = () => `${String(data['type'])} ${JSON.stringify(data['message'])}`
  if (type === 'dialog.opened') return closes() ? undefined : `dialog left open: ${dialog()}`
  if (type === 'dialog.closed') {
    const answer = data['accepted'] === true ? 'accepted' : 'dismissed'
    return data['answered_by'] === 'setting' ? `dialog ${answer} automatically: ${dialog()}` : undefined
  }
  if (type === 'tab.opened') return Number(data['tabs']) > 1 ? `${newTab} ${String(data['url'])}` : undefined
  if (!isBad(event) && type !== 'credential.blocked') return undefined
  if (type === 'page.error') return `exception: ${String(data['message'])}`
  if (type === 'console') return `console error: ${String(data['text'])}`
  return textOf(event)
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
