/** The tool for browsers of people, which are connected through the relay. */
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import { formatCell } from '../../core/text/cell.ts'
import type { RelayEventPage } from '../../core/shapes/relay.ts'
import { operations } from '../../operations/index.ts'
import { defineTool, type ToolCall } from '../tool.ts'

const { kind, text: words, limit } = operations.readRelayEvents.input.shape

export const relay = defineTool({
  name: 'relay',
  description:
    'List the connected browsers of people (their id is a session of the browser tools), read the console and network events of one, or activate a tab.',
  uses: [operations.listRelays, operations.readRelayEvents, operations.activateTarget],
  effect: 'write',
  unrestricted: true,
  input: z.object({
    action: z.enum(['list', 'events', 'activate']).default('list').describe(''),
    id: operations.getRelay.input.shape.id.optional().describe(''),
    tab: operations.activateTarget.input.shape.target_id.optional().describe(''),
    kind: kind.describe(''),
    text: words.describe('Text of the events'),
    limit: limit.unwrap().default(50).describe('Newest events'),
  }),
  async run(call, { action, id, tab, ...query }) {
    const { connection, signal } = call
    if (action === 'list') return list(call)
    if (id === undefined) throw new BaxError('invalid_request', 'id is required')
    if (action === 'activate') {
      if (tab === undefined) throw new BaxError('invalid_request', 'tab is required')
      await connection.ask('activateTarget', { id, target_id: tab }, signal)
      return { text: `activated ${tab}` }
    }
    const page = await connection.ask('readRelayEvents', { id, order: 'desc', ...query }, signal)
    const { events } = page as RelayEventPage
    const lines = events.toReversed().map(
      ({ kind: of, type, data }) =>
        `${of} ${type} ${Object.entries(data)
          .map(([name, value]) => `${name}=${formatCell(value)}`)
          .join(' ')}`,
    )
    return { text: `${events.length} events`, page: lines.join('\n') }
  },
})

async function list({ connection, signal }: ToolCall) {
  const { sessions } = await connection.ask('listRelays', {}, signal)
  if (sessions.length === 0) return { text: 'no browser is connected; a person can run "bax relay connect"' }
  const lines = sessions.flatMap(({ id, name, status, policy, targets }) => [
    `${id} ${name ?? ''} ${status}, ${policy}`,
    ...targets.map(
      (target) => `  ${target.target_id}${target.active ? ' (active)' : ''}: ${target.title} ${target.url}`,
    ),
  ])
  return { page: lines.join('\n') }
}
