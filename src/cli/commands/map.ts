/** `bax map`: prints the URLs of a site, one per line. */
import { BaxError, exits } from '../../core/errors/errors.ts'
import type { LlmsEntry } from '../../core/shapes/jobs/sources.ts'
import { printError } from '../output/errors.ts'
import { print } from '../io.ts'
import { plain } from '../../core/text/plain.ts'
import { siteHint } from '../output/site-hint.ts'
import { showWarning } from '../output/output.ts'
import { withClock } from '../output/progress.ts'
import { aboutSession, addIdentityFlags, addProxyFlag, withIdentity } from '../scrape/identity-flags.ts'
import { operationCommand, type OperationShape } from '../operation-command.ts'

/** Returns a URL with what llms.txt says about it. */
function describe(url: string, entries: ReadonlyMap<string, LlmsEntry>): string {
  const { title = '', description = '' } = entries.get(url) ?? {}
  return [url, plain([title, description].filter(Boolean).join(': '))].filter(Boolean).join('\t')
}

const shape = {
  cli: 'map <url>',
  summary: 'List the URLs of a site',
  operation: 'map',
  sessionFlag: aboutSession,
  flags(command) {
    addIdentityFlags(command)
    addProxyFlag(command)
    command.option('--descriptions', 'add what llms.txt says about a URL, after a tab')
  },
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, typed, input, ask }) => {
  const own = withIdentity({}, typed.flags, io.cwd)
  const answer = await withClock(io, `finding the URLs of ${String(input['url'])}`, () => ask(own))
  if (settings.json) print(io, JSON.stringify(answer))
  else {
    const isDescribed = typed.flags['descriptions'] === true || io.stdout.isTTY === true
    const entries = new Map(isDescribed ? answer.described?.map((entry) => [entry.url, entry]) : [])
    for (const link of answer.links) print(io, describe(link, entries))
  }
  await showWarning(io, answer)
  if (answer.success) return exits.done
  const failure = BaxError.fromBody(answer, 'navigation_failed')
  const hint = siteHint(failure, input['url'], settings)
  await printError(io, `${failure.message} [${failure.code}]`, hint)
  return failure.exit
})
