/** Formats session events as one line for humans. */
import type { Frame } from '../operation/call.ts'
import { formatCell } from '../text/cell.ts'

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
    case 'frame':
      return `${text('tab_id')} ${text('width')}x${text('height')}`
    default:
      return Object.entries(data).map(([name, value]) => `${name}=${formatCell(value)}`).join(' ') // prettier-ignore
  }
}
