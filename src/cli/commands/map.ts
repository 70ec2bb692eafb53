/** `bax map`: the addresses of a site, one a line. */
import { call } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { MapAnswer } from '../../core/shapes/crawl.ts'
import { operationNamed } from '../context.ts'
import { tell } from '../output/errors.ts'
import { openHome } from '../engine/locate-engine.ts'
import { begin, type TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { startClock } from '../output/progress.ts'
import { addOperation, readOperation } from '../run-operation.ts'

export const command: TerminalCommand = {
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'map')
    const { context, typed } = begin(invocation, (command) => addOperation(command, operation))
    const { io, settings } = context
    const { input } = readOperation(context, operation, typed)
    const home = openHome(context, { when: 'ask' })
    const spinner = await startClock(io, `looking for the addresses of ${String(input['url'])}`)
    try {
      const answer = (await call(home.transport, operation.http, input, {
        signal: io.signal,
        strict: true,
      })) as MapAnswer
      spinner.stop()
      if (settings.json) print(io, JSON.stringify(answer))
      else for (const link of answer.links) print(io, link)
      await showWarning(io, answer)
      if (answer.success) return exits.done
      const failure = BaxError.fromBody(answer, 'navigation_failed')
      await tell(io, `${failure.message} [${failure.code}]`)
      return failure.exit
    } finally {
      spinner.stop()
      await home.transport.close()
    }
  },
}
