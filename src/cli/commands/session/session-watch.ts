/** `bax session watch`: the events of a session as they happen, until it ends. */
import { Option } from 'commander'
import { exits } from '../../../core/errors/errors.ts'
import { eventLine } from '../../../core/events/event-line.ts'
import { explainSession } from '../../session/chosen-session.ts'
import { operationNamed } from '../../context.ts'
import { openHome } from '../../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { watch } from '../../output/watch.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'sessionEvents')
    const { context, typed } = begin(invocation, (flags) => {
      addOperation(flags, operation)
      flags.addOption(new Option('--ndjson', 'print each event as it came, one a line (--json does the same)'))
    })
    const { io, settings } = context
    const { input, source } = readOperation(context, operation, typed)
    const asItCame = settings.json || typed.flags['ndjson'] === true
    const home = openHome(context, needOf(operation, input))
    try {
      await watch({
        transport: home.transport,
        http: operation.http,
        input,
        io,
        onEvent: (event) => print(io, asItCame ? JSON.stringify(event) : eventLine(event)),
      })
      return exits.done
    } catch (error) {
      throw explainSession(error, source)
    } finally {
      await home.transport.close()
    }
  },
}
