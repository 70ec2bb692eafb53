/** `bax session watch`: follows the events of a session until it ends. */
import { Option } from 'commander'
import { eventLine } from '../../../core/events/event-line.ts'
import { operationNamed } from '../../context.ts'
import { withSession } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'
import { needOf } from '../../engine/need.ts'
import { addOperation, readOperation } from '../../run-operation.ts'
import { watch } from '../../output/watch.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'sessionEvents')
  const { context, typed } = parseInvocation(invocation, (flags) => {
    addOperation(flags, operation)
    flags.addOption(new Option('--ndjson', 'print one JSON event per line, like --json'))
  })
  const { io, settings } = context
  const { input, source } = readOperation(context, operation, typed)
  const asJson = settings.json || typed.flags['ndjson'] === true
  return withSession(context, needOf(operation, input), source, async (engine) => {
    await watch({
      transport: engine.transport,
      http: operation.http,
      input,
      io,
      onEvent: (event) => print(io, asJson ? JSON.stringify(event) : eventLine(event)),
    })
  })
}
