/** `bax demo`: serves the demo site on 127.0.0.1; `bax demo tour` runs five workflows on it. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { type Io, note, print } from '../io.ts'
import { serviceExit } from '../output/errors.ts'
import { styleFor } from '../output/style.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'
import { textFlag, textWord } from '../../lines/typed.ts'
import type { TypedArguments } from '../../lines/values.ts'
import { portNumber } from '../serve/read-params.ts'

const defaultPort = 4180

export const command: TerminalCommand = {
  cli: 'demo [tour]',
  summary: 'Serve a site to try bax on, or tour it',
  example: ['bax demo', 'bax demo tour', 'bax demo tour --headed -o tour/'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('[tour]', '`tour` runs five workflows on the site')
      command.option(
        '--port <port>',
        `port of the site on 127.0.0.1; ${defaultPort} by default, for the tour a free one`,
      )
      command.option('-o, --output <folder>', 'tour: keep its files in this folder')
      command.option('--headed', 'tour: show the browser window')
    })
    const { io } = context
    const action = textWord(typed.words, 0)
    if (action !== undefined && action !== 'tour')
      throw new BaxError('invalid_request', `the demo has no ${JSON.stringify(action)}`, {
        hint: 'use `bax demo` or `bax demo tour`',
      })
    const [{ demoSite }, { listen }] = await Promise.all([
      import('../../demo/site.ts'),
      import('../../server/process/listen.ts'),
    ])
    const port = portNumber(Number(textFlag(typed.flags, 'port') ?? (action === 'tour' ? 0 : defaultPort)), '--port')
    const site = await listen(demoSite(), { host: '127.0.0.1', port })
    try {
      if (action === 'tour') return await runTour(io, site.address, typed.flags)
      print(io, site.address)
      for (const line of hints(site.address)) note(io, line)
      if (!io.signal.aborted) await once(io.signal, 'abort')
      return serviceExit(io)
    } finally {
      await site.close()
    }
  },
}

async function runTour(io: Io, url: string, flags: TypedArguments['flags']): Promise<number> {
  const [{ Tour }, style] = await Promise.all([import('../demo/tour.ts'), styleFor(io, io.stdout)])
  const output = textFlag(flags, 'output')
  const folder = output === undefined ? await mkdtemp(join(tmpdir(), 'bax-tour-')) : resolve(io.cwd, output)
  if (output !== undefined) await mkdir(folder, { recursive: true })
  const name = `tour-${randomBytes(3).toString('hex')}`
  try {
    return await new Tour(io, style).run({ url, folder, name, headed: flags['headed'] === true })
  } finally {
    if (output === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Commands to type, while the site runs. */
const hints = (url: string): readonly string[] => [
  '',
  'In another terminal:',
  `  bax open ${url}/shop`,
  "  bax click 'text=Sencha Asatsuyu'",
  `  bax scrape ${url}/docs/boiler-add`,
  `  bax crawl ${url}/docs --include-paths '/docs/*' --limit 100 -o manual/`,
  `  bax scrape ${url}/readings --formats links`,
  '',
  '^C ends the site. `bax demo tour` shows five workflows in a minute.',
]
