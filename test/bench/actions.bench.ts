/** Actions on elements: performed directly, by Playwright within bax, and by Playwright alone. */
import type { Page } from 'playwright'
import { serveSite } from '../support/site.ts'
import { call, openSides, poolAtRest, poolState, sessionAge, type Side } from './engines.ts'
import { inTurn, ms, msTitle, ratio, type Row, type Table } from './measure.ts'

const page = `<!doctype html><title>A page</title><h1 id="h">Hello</h1>
<form><input id="q" name="q"><input type="checkbox" id="c"><select id="s"><option>one<option>two</select></form>
<button id="b" type="button" onclick="this.textContent++">0</button>${'<p>A paragraph of a page.</p>'.repeat(500)}`

interface Step {
  readonly command: string
  readonly data?: Record<string, unknown>
}

interface Case {
  readonly name: string
  readonly steps: readonly Step[]
  readonly plain: (page: Page, url: string) => Promise<unknown>
}

const click: Step = { command: 'click', data: { selector: '#b' } }
const type: Step = { command: 'type_text', data: { selector: '#q', text: 'ten letters', clear: true } }
const read: Step = { command: 'get_text', data: { selector: '#h' } }

const cases = (url: string): readonly Case[] => {
  const open: Step = { command: 'navigate_to', data: { url } }
  const typeInto = async (p: Page) => {
    const field = p.locator('#q').first()
    await field.fill('')
    await field.pressSequentially('ten letters')
  }
  const plainClick = (p: Page) => p.locator('#b').first().click()
  return [
    { name: 'click', steps: [click], plain: plainClick },
    {
      name: 'hover',
      steps: [{ command: 'hover', data: { selector: '#h' } }],
      plain: (p) => p.locator('#h').first().hover(),
    },
    {
      name: 'fill',
      steps: [{ command: 'fill', data: { selector: '#q', text: 'tea' } }],
      plain: (p) => p.locator('#q').first().fill('tea'),
    },
    { name: 'type ten letters', steps: [type], plain: typeInto },
    {
      name: 'select',
      steps: [{ command: 'select_option', data: { selector: '#s', values: ['two'] } }],
      plain: (p) => p.locator('#s').first().selectOption(['two']),
    },
    {
      name: 'check, uncheck',
      steps: [
        { command: 'check', data: { selector: '#c' } },
        { command: 'uncheck', data: { selector: '#c' } },
      ],
      plain: async (p) => {
        await p.locator('#c').first().check()
        await p.locator('#c').first().uncheck()
      },
    },
    {
      name: 'press',
      steps: [{ command: 'press_key', data: { selector: '#q', key: 'a' } }],
      plain: (p) => p.locator('#q').first().press('a'),
    },
    { name: 'open', steps: [open], plain: (p) => p.goto(url) },
    {
      name: 'open, click',
      steps: [open, click],
      plain: async (p) => {
        await p.goto(url)
        await plainClick(p)
      },
    },
    {
      name: '**open, click, type, read, five times**',
      steps: Array.from({ length: 5 }, () => [open, click, type, read]).flat(),
      plain: async (p) => {
        for (let round = 0; round < 5; round++) {
          await p.goto(url)
          await plainClick(p)
          await typeInto(p)
          await p.locator('#h').first().innerText()
        }
      },
    },
  ]
}

async function rowOf({ name, steps, plain }: Case, side: Side, id: string, other: Page, url: string): Promise<Row> {
  const run = async (direct: '1' | '0') => {
    process.env['BAX_DIRECT_ACTIONS'] = direct
    const { error } = await side.engine.sessions.runCommands({ session_id: id, commands: [...steps] }, call)
    if (error !== undefined) throw new Error(`${name}: ${error}`)
  }
  const sides = { direct: () => run('1'), through: () => run('0'), playwright: () => plain(other, url) }
  const { direct, through, playwright } = await inTurn(sides, steps.length > 5 ? 5 : 15)
  return {
    name,
    cells: [ms(direct!), ms(through!), ms(playwright!), ratio(direct!, through!), ratio(direct!, playwright!)],
  }
}

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': page })
  const side = await openSides()
  try {
    const id = await side.createSession()
    const plain = await (await side.playwright.newContext()).newPage()
    await plain.goto(site.url)
    const open = { command: 'navigate_to', data: { url: site.url } }
    await side.engine.sessions.runCommands({ session_id: id, commands: [open] }, call)
    await poolAtRest(side)
    const rows: Row[] = []
    for (const item of cases(site.url)) rows.push(await rowOf(item, side, id, plain, site.url))
    const columns = [`direct ${msTitle}`, 'by Playwright in bax', 'Playwright alone', 'to bax', 'to Playwright']
    const end = `At the end: ${await sessionAge(side, id)}, ${await poolState(side)}.`
    return [{ title: 'Actions', columns, rows, note: `One session each, on a page of 500 paragraphs. ${end}` }]
  } finally {
    delete process.env['BAX_DIRECT_ACTIONS']
    await side.close()
    await site.close()
  }
}
