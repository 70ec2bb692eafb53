/** `bax demo`: serves the demo site on 127.0.0.1; `bax demo tour` runs workflows on it. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import type { Settings } from '../../core/config/settings.ts'
import type { Context } from '../context.ts'
import { crawlOf, lineOf, scrapeOf } from '../demo/steps.ts'
import { note, print } from '../io.ts'
import { serviceExit } from '../output/errors.ts'
import { styleFor } from '../output/style.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { textFlag, textWord } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import { portNumber } from '../serve/read-params.ts'
import { makeOutputFolder } from '../output/write-output.ts'

const defaultPort = 4180

export const command: TerminalCommand = {
  cli: 'demo [tour]',
  summary: 'Serve a site to try bax on, or tour it',
  example: ['bax demo', 'bax demo tour', 'bax demo tour --headed -o tour/'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('[tour]', '`tour` runs workflows on the site')
      command.option(
        '--port <port>',
        `port of the site on 127.0.0.1; ${defaultPort} by default, for the tour a free one`,
      )
      command.option('-o, --output <folder>', 'tour: keep its files in this folder')
      command.option('--headed', 'tour: show the browser window')
    })
    const { io } = context
    const isTour = readAction(typed, context.settings)
    const [{ demoSite }, { listen }] = await Promise.all([
      import('../../demo/site.ts'),
      import('../../server/process/listen.ts'),
    ])
    const port = portNumber(textFlag(typed.flags, 'port') ?? (isTour ? 0 : defaultPort), '--port')
    const site = await listen(demoSite(), { host: '127.0.0.1', port })
    try {
      if (isTour) return await runTour(context, site.address, typed.flags)
      print(io, site.address)
      for (const line of hints(site.address)) note(io, line)
      if (!io.signal.aborted) await once(io.signal, 'abort')
      return serviceExit(io)
    } finally {
      await site.close()
    }
  },
}

/** Returns whether the tour was requested. @throws BaxError `invalid_request` */
function readAction({ words, flags }: TypedArguments, { server, embedded }: Settings): boolean {
  const action = textWord(words, 0)
  const invalid = (message: string, hint: string) => new BaxError('invalid_request', message, { hint })
  if (action === undefined) {
    const ofTour = ['output', 'headed'].find((name) => flags[name] !== undefined)
    if (ofTour) throw invalid(`--${ofTour} is only for the tour`, 'use `bax demo tour`')
    return false
  }
  if (action !== 'tour')
    throw invalid(`unknown demo command ${JSON.stringify(action)}`, 'use `bax demo` or `bax demo tour`')
  if (embedded) throw invalid('the tour needs an engine that outlives its commands', 'leave out --embedded')
  if (server !== undefined)
    throw invalid(
      `the tour runs on the local engine, not on ${server}`,
      'leave out --server, BAX_SERVER and the setting `server`',
    )
  return true
}

async function runTour({ io, settings }: Context, url: string, flags: TypedArguments['flags']): Promise<number> {
  const [{ Tour }, style] = await Promise.all([import('../demo/tour.ts'), styleFor(io, io.stdout)])
  const output = textFlag(flags, 'output')
  const folder = output === undefined ? await mkdtemp(join(tmpdir(), 'bax-tour-')) : resolve(io.cwd, output)
  if (output !== undefined) makeOutputFolder(folder)
  const name = `tour-${randomBytes(3).toString('hex')}`
  try {
    return await new Tour(io, style, settings).run({ url, folder, name, headed: flags['headed'] === true })
  } finally {
    if (output === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Commands to type, while the site runs. */
function hints(url: string): readonly string[] {
  const commands = [
    ['open', `${url}/shop`],
    ['click', 'text=Sencha Asatsuyu'],
    scrapeOf(url),
    crawlOf(url, 'manual/'),
    ['scrape', `${url}/readings`, '--formats', 'links'],
  ]
  const end = '^C ends the site. `bax demo tour` runs such commands for you.'
  return ['', 'In another terminal:', ...commands.map((argv) => `  ${lineOf(argv)}`), '', end]
}
