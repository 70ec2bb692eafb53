/** `bax map`: prints the URLs of a site, one per line. */
import { call } from '../../client/client.ts'
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { MapAnswer } from '../../core/shapes/crawl.ts'
import { operationNamed } from '../context.ts'
import { printError } from '../output/errors.ts'
import { withEngine } from '../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'
import { showWarning } from '../output/output.ts'
import { startClock } from '../output/progress.ts'
import { addOperation, readOperation } from '../run-operation.ts'

export const command: TerminalCommand = async (invocation) => {
  const operation = operationNamed(invocation.manifest, 'map')
  const { context, typed } = parseInvocation(invocation, (command) => addOperation(command, operation))
  const { io, settings } = context
  const { input } = readOperation(context, operation, typed)
  return withEngine(context, { when: 'ask' }, async ({ transport }) => {
    const spinner = await startClock(io, `finding the URLs of ${String(input['url'])}`)
    const options = { signal: io.signal, strict: true }
    const answer = (await call(transport, operation.http, input, options).finally(spinner.stop)) as MapAnswer
    if (settings.json) print(io, JSON.stringify(answer))
    else for (const link of answer.links) print(io, link)
    await showWarning(io, answer)
    if (answer.success) return exits.done
    const failure = BaxError.fromBody(answer, 'navigation_failed')
    await printError(io, `${failure.message} [${failure.code}]`)
    return failure.exit
  })
}
