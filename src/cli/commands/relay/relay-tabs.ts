/** `bax relay tabs`: the tabs of a browser of the relay. */
import { Argument } from 'commander'
import { call } from '../../../client/client.ts'
import { exits } from '../../../core/errors/errors.ts'
import type { RelayRecord } from '../../../core/shapes/relay.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { showAnswer } from '../../output/output.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const { context, typed } = begin(invocation, (command) => {
      command.addArgument(new Argument('<id>', 'relay session, by id or name'))
    })
    const { io, settings, manifest } = context
    const operation = operationNamed(manifest, 'getRelay')
    const home = openHome(context, { when: 'ask' })
    try {
      const input = { id: typed.words[0] }
      const record = (await call(home.transport, operation.http, input, { signal: io.signal })) as RelayRecord
      const columns = ['target_id', 'active', 'responsive', 'title', 'url']
      // With --json the whole record as the service gives it.
      const show = { as: 'table', items: 'targets', columns } as const
      await showAnswer(io, { ...operation, show }, record, settings.json)
      return exits.done
    } finally {
      await home.transport.close()
    }
  },
}
