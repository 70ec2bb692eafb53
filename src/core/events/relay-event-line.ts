/** Formats relay events as one line for humans. */
import type { RelayEvent } from '../shapes/relay.ts'
import { formatCell } from '../text/cell.ts'

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
  return Object.entries(data).map(([name, value]) => `${name}=${formatCell(value)}`).join(' ') // prettier-ignore
}
