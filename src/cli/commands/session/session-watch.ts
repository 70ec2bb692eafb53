/** `bax session watch`: follows the events of a session until it ends. */
import { type Event, eventLine } from '../../../core/events/event-line.ts'
import { print } from '../../io.ts'
import { watch } from '../../output/watch.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'session watch [session-id]',
  summary: 'Follow the events of a session',
  place: 'own process',
  operation: 'sessionEvents',
  flags: (command) => void command.option('--ndjson', 'print one JSON event per line, like --json'),
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, shape, input, engine }) => {
  const asJson = settings.json || typed.flags['ndjson'] === true
  const onEvent = (event: Event) => print(io, asJson ? JSON.stringify(event) : eventLine(event))
  await watch({ engine, stream: shape.operation, input, io, onEvent })
})
