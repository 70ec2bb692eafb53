/** Formats events of sessions and relays as one line for humans. */
import type { Frame } from '../operation/call.ts'
import { formatCell } from '../text/cell.ts'
import type { RelayEvent } from '../shapes/relay.ts'

/** An event as it is sent to clients. */
export type Event = Frame & { readonly data: Readonly<Record<string, unknown>> }

/** Formats an event: `12:00:01.123  network.response   200 GET http://…` */
export function eventLine({ ts, type, data }: Event): string {
  return `${String(ts).slice(11, 23)}  ${type.padEnd(17)}  ${eventFacts(type, data)}`.trimEnd()
}

/** Formats the data of an event, without time and type. */
export function eventFacts(type: string, data: Event['data']): string {
  const text = (name: string) => formatCell(data[name])
  switch (type) {
    case 'page.navigated':
    case 'page.loaded':
    case 'tab.opened':
      return `${text('tab_id')} ${text('url')}`
    case 'page.error':
      return text('message')
    case 'console':
      return `${text('level')}: ${text('text')}${data['url'] ? ` (${text('url')}:${text('line')})` : ''}`
    case 'network.request':
      return `${text('method')} ${text('url')} (${text('resource_type')})`
    case 'network.response':
      return `${text('status')} ${text('method')} ${text('url')}`
    case 'network.failed':
      return `${text('method')} ${text('url')} ${text('error')}`
    case 'command.started':
      return text('command')
    case 'command.finished':
      return data['success'] === true
        ? `${text('command')} ${text('duration_ms')} ms`
        : `${text('command')} failed: ${text('error')} [${text('code')}]`
    case 'approval.requested':
    case 'approval.decided':
      return `${text('approval_id')} ${text('kind')} ${data['decision'] ? `${text('decision')} ` : ''}${text('summary')}`
    case 'frame':
      return `${text('tab_id')} ${text('width')}x${text('height')}`
    default:
      return Object.entries(data)
        .map(([name, value]) => `${name}=${formatCell(value)}`)
        .join(' ')
  }
}

/** Formats an event: `12:00:01.123  network  response   200 GET http://…` */
export function relayEventLine(event: RelayEvent): string {
  const time = new Date(event.ts).toISOString().slice(11, 23)
  return `${time}  ${event.kind.padEnd(7)}  ${event.type.padEnd(12)}  ${relayEventFacts(event)}`.trimEnd()
}

/** Formats the data of an event, without time and type. */
export function relayEventFacts({ kind, type, data }: RelayEvent): string {
  const text = (name: string) => formatCell(data[name])
  const place = data['url'] === undefined ? '' : ` (${text('url')}${data['line'] ? `:${text('line')}` : ''})`
  if (kind === 'console') return `${text('level')}: ${text('text')}${place}`
  if (kind === 'network') {
    const facts: Record<string, string> = {
      request: `${text('method')} ${text('url')} (${text('resource')})`,
      response: `${text('status')} ${text('url')} (${text('mime')})`,
      redirect: `${text('status')} ${text('url')} -> ${text('location')}`,
      finished: `${text('bytes')} bytes ${text('url')}`,
      failed: `${text('error')} ${text('url')}`,
      ws_frame: `${text('direction')} ${text('bytes')} bytes ${text('url')}`,
    }
    return facts[type] ?? text('url')
  }
  return Object.entries(data)
    .map(([name, value]) => `${name}=${formatCell(value)}`)
    .join(' ')
}
