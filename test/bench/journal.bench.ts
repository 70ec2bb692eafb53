/** The cost of what a session keeps of its commands for scripts: with it, and without. */
import { Journal } from '../../src/engine/browser/journal/journal.ts'
import { serveSite } from '../support/site.ts'
import { call, openSides, poolAtRest, type Side } from './engines.ts'
import { inTurn, ms, msTitle, ratio, type Row, type Table } from './measure.ts'

const controls = `<form><input id="q" name="q"></form><button id="b" type="button" onclick="this.textContent++">0</button>`
const item = (at: number) =>
  `<div><h3><a href="/${at}">Article ${at}</a></h3><p><b>Some</b> text <i>of</i> it</p>${'<ul><li>one<li>two</ul>'.repeat(4)}</div>`
const small = `<!doctype html><title>A page</title><h1 id="h">Hello</h1>${controls}${'<p>A paragraph.</p>'.repeat(500)}`
const large = `<!doctype html><title>A page</title><h1 id="h">Hello</h1>${controls}${Array.from({ length: 330 }, (_, at) => item(at)).join('')}`

interface Case {
  readonly name: string
  readonly path: string
  readonly steps: readonly { readonly command: string; readonly data: Record<string, unknown> }[]
}

const cases = (url: string): readonly Case[] => {
  const click = { command: 'click', data: { selector: '#b' } }
  const fill = { command: 'fill', data: { selector: '#q', text: 'tea' } }
  return [
    { name: 'click', path: '/', steps: [click] },
    { name: 'fill', path: '/', steps: [fill] },
    {
      name: 'type ten letters',
      path: '/',
      steps: [{ command: 'type_text', data: { selector: '#q', text: 'ten letter' } }],
    },
    { name: 'click by role', path: '/', steps: [{ command: 'click', data: { selector: 'role=button' } }] },
    {
      name: 'fill by xpath',
      path: '/',
      steps: [{ command: 'fill', data: { selector: 'xpath=//input', text: 'tea' } }],
    },
    { name: 'read by text', path: '/', steps: [{ command: 'get_text', data: { selector: 'text=Hello' } }] },
    { name: 'read', path: '/', steps: [{ command: 'get_text', data: { selector: '#h' } }] },
    { name: 'open, click, fill', path: '/', steps: [{ command: 'navigate_to', data: { url } }, click, fill] },
    { name: 'click among 6,000 elements', path: '/large', steps: [click] },
    { name: 'fill among 6,000 elements', path: '/large', steps: [fill] },
  ]
}

async function rowOf({ name, path, steps }: Case, side: Side, id: string, url: string): Promise<Row> {
  const run = async (commands: Case['steps']) => {
    const { error } = await side.engine.sessions.runCommands({ session_id: id, commands: [...commands] }, call)
    if (error !== undefined) throw new Error(`${name}: ${error}`)
  }
  await run([{ command: 'navigate_to', data: { url: url + path } }])
  const { begin } = Journal.prototype
  const without = async () => {
    Journal.prototype.begin = () => Promise.resolve({ describe: undefined, end: async () => {} })
    await run(steps)
  }
  const kept = () => {
    Journal.prototype.begin = begin
    return run(steps)
  }
  const times = await inTurn({ kept, without }, 25).finally(() => (Journal.prototype.begin = begin))
  return { name, cells: [ms(times.kept!), ms(times.without!), ratio(times.kept!, times.without!)] }
}

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': small, '/large': large })
  const side = await openSides()
  try {
    const id = await side.createSession()
    await poolAtRest(side)
    const rows: Row[] = []
    for (const each of cases(site.url)) rows.push(await rowOf(each, side, id, site.url))
    return [{ title: 'Commands kept for scripts', columns: [`kept ${msTitle}`, 'not kept', 'kept to not kept'], rows }]
  } finally {
    await side.close()
    await site.close()
  }
}
