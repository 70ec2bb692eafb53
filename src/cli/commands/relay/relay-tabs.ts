/** `bax relay tabs`: lists the tabs of a relay browser. */
import { Argument } from 'commander'
import { call } from '../../../client/client.ts'
import type { RelayRecord } from '../../../core/shapes/relay.ts'
import { operationNamed } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { showAnswer } from '../../output/output.ts'

export const command: TerminalCommand = async (invocation) => {
  const { context, typed } = parseInvocation(invocation, (command) => {
    command.addArgument(new Argument('<id>', 'ID or name of a relay session'))
  })
  const { io, settings, manifest } = context
  const operation = operationNamed(manifest, 'getRelay')
  return withEngine(context, { when: 'ask' }, async (engine) => {
    const input = { id: typed.words[0] }
    const record = (await call(engine.transport, operation.http, input, { signal: io.signal })) as RelayRecord
    const columns = ['target_id', 'active', 'responsive', 'title', 'url']
    const show = { as: 'table', items: 'targets', columns } as const
    await showAnswer(io, { ...operation, show }, record, settings.json)
  })
}
