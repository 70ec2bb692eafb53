/** Characters that an agent reads: the tool list and the responses of three tasks, beside other MCP servers. */
import { fileURLToPath } from 'node:url'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { packageFolder } from '../support/packages.ts'
import type { Row, Table } from './measure.ts'
import { serveApi } from './mcp/api.ts'
import { type Counted, Recorder } from './mcp/recorder.ts'
import { openSites, type OpenSites } from './mcp/sites.ts'
import * as tasks from './mcp/tasks.ts'

/** The benchmarks are bundled into a folder two levels below the root, as this file is. */
const baxProgram = fileURLToPath(new URL('../../bin/bax.js', import.meta.url))

const withCode = 'bax, by code'

interface Server {
  readonly name: string
  readonly tasks: tasks.Tasks
  start(): Promise<Recorder>
}

export async function measure(): Promise<Table[]> {
  const sites = await openSites()
  const served = await serveApi(baxProgram)
  try {
    const rows: MeasuredServer[] = []
    const skipped = [...sites.skipped]
    for (const server of await servers(served)) {
      const recorder = await server.start().catch((error: Error) => error)
      if (recorder instanceof Error) skipped.push(`${server.name}: ${recorder.message}`)
      else {
        try {
          rows.push({ name: server.name, ...(await run(recorder, server.tasks, sites)) })
        } finally {
          await recorder.close()
        }
      }
    }
    return [tableOf(rows, skipped)]
  } finally {
    await served.close()
    await sites.close()
  }
}

async function servers(served: { readonly url: string }): Promise<Server[]> {
  const { path: browser } = await locateBrowser({ headless: true, stealth: true }, { cacheDir: '/nonexistent' })
  const program = async (name: string, version: string, file: string) =>
    fileURLToPath(new URL(file, await packageFolder(name, version)))
  const headless = ['--headless', '--isolated']
  const start = async () => Recorder.start([baxProgram, 'mcp', '--embedded'])
  return [
    { name: 'bax', tasks: tasks.bax, start },
    { name: withCode, tasks: tasks.baxCode, start },
    {
      name: 'Playwright MCP 0.0.83',
      tasks: tasks.playwright,
      start: async () =>
        Recorder.start([
          await program('@playwright/mcp', '0.0.83', 'cli.js'),
          ...headless,
          '--no-sandbox',
          '--executable-path',
          browser,
        ]),
    },
    {
      name: 'chrome-devtools-mcp 1.11',
      tasks: tasks.devtools,
      start: async () =>
        Recorder.start([
          await program('chrome-devtools-mcp', '1.11.0', 'build/src/bin/chrome-devtools-mcp.js'),
          ...headless,
          '--executablePath',
          browser,
          '--chromeArg=--no-sandbox',
          '--no-usage-statistics',
        ]),
    },
    {
      name: 'firecrawl-mcp 3.22, with bax as its API',
      tasks: tasks.firecrawl,
      start: async () =>
        Recorder.start([await program('firecrawl-mcp', '3.22.0', 'dist/index.js')], {
          FIRECRAWL_API_URL: served.url,
          FIRECRAWL_API_KEY: 'none',
        }),
    },
  ]
}

interface Measured {
  readonly tools: number
  readonly edit: Counted | string | undefined
  readonly find: Counted | string | undefined
  readonly list: Counted | string | undefined
}

async function run(recorder: Recorder, { edit, find, list }: tasks.Tasks, sites: OpenSites): Promise<Measured> {
  const { wiki, manual } = sites
  const during = async (task: () => Promise<void>) => {
    const counted = await recorder.during(task).catch((error: Error) => `failed: ${error.message.split('\n')[0]}`)
    process.stderr.write(`${JSON.stringify(counted)}\n`)
    return counted
  }
  return {
    tools: recorder.tools,
    edit: edit && wiki && (await during(() => edit(recorder, wiki))),
    find: manual === undefined ? undefined : await during(() => find(recorder, manual)),
    list: await during(() => list(recorder, sites.listing)),
  }
}

type MeasuredServer = Measured & { readonly name: string }

/** Returns the calls and characters of the tasks; undefined unless all three were done. */
function tasksOf({ edit, find, list }: Measured): Counted | undefined {
  const counted = [edit, find, list].filter((one): one is Counted => typeof one === 'object')
  if (counted.length < 3) return undefined
  const sum = (field: keyof Counted) => counted.reduce((total, one) => total + one[field], 0)
  return { calls: sum('calls'), characters: sum('characters') }
}

function tableOf(measured: readonly MeasuredServer[], skipped: readonly string[]): Table {
  const [own, ...others] = measured
  const total = (one: Measured) => {
    const done = tasksOf(one)
    return done && one.tools + done.characters
  }
  const best = Math.min(...others.flatMap((one) => (one.name === withCode ? [] : (total(one) ?? []))))
  const percent = (part: number, whole: number) => Math.round((part / whole) * 100)
  const cell = (counted: Measured['edit']) =>
    typeof counted === 'object' ? `${counted.characters} in ${counted.calls}` : (counted ?? '-')
  const compared = (one: MeasuredServer): string => {
    const [sum, done, ownTasks] = [total(one), tasksOf(one), own && tasksOf(own)]
    if (one === own && sum !== undefined && best !== Infinity)
      return ` (${percent(sum, best)} % of the best other; at most 60 %)`
    if (one.name !== withCode || !done || !ownTasks) return ''
    const [characters, calls] = [percent(done.characters, ownTasks.characters), percent(done.calls, ownTasks.calls)]
    return ` (its tasks: ${characters} % of the characters and ${calls} % of the calls of bax; at most 50 %)`
  }
  const rows: Row[] = measured.map((one) => ({
    name: one.name,
    cells: [String(one.tools), cell(one.edit), cell(one.find), cell(one.list), `${total(one) ?? '-'}${compared(one)}`],
  }))
  return {
    title: 'Characters that an agent reads over MCP',
    note: `Each task: characters of the responses, and calls.${skipped.map((reason) => ` Skipped: ${reason}.`).join('')}`,
    columns: ['tool list', 'log in and edit a page', 'find a fact in a manual', 'a listing as JSON', 'in total'],
    rows,
  }
}
