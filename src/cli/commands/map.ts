/** `bax map`: prints the URLs of a site, one per line. */
import { BaxError, exits } from '../../core/errors/errors.ts'
import { printError } from '../output/errors.ts'
import { print } from '../io.ts'
import { blockedHint } from '../output/result-notes.ts'
import { showWarning } from '../output/output.ts'
import { withClock } from '../output/progress.ts'
import { addIdentityFlags, withIdentity } from '../scrape/identity-flags.ts'
import { operationCommand } from './operation-command.ts'

const shape = { operation: 'map', flags: addIdentityFlags } as const

export const command = operationCommand(shape, async ({ io, settings, input, typed, ask }) => {
  const own = withIdentity({}, typed.flags, io.cwd)
  const answer = await withClock(io, `finding the URLs of ${String(input['url'])}`, () => ask(own))
  if (settings.json) print(io, JSON.stringify(answer))
  else for (const link of answer.links) print(io, link)
  await showWarning(io, answer)
  if (answer.success) return exits.done
  const failure = BaxError.fromBody(answer, 'navigation_failed')
  const hint = failure.hint ?? blockedHint(failure.code, [input['url']], settings.server)
  await printError(io, `${failure.message} [${failure.code}]`, hint)
  return failure.exit
})
