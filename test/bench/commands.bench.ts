/** Overhead of the commands compared with their Playwright calls. */
import type { Page } from 'playwright'
import { serveSite } from '../support/site.ts'
import { call, openSides, poolAtRest, poolState, sessionAge } from './engines.ts'
import { inTurn, ms, msTitle, ratio, type Row, type Table } from './measure.ts'

const page = `<!doctype html><title>A page</title>
<h1 id="h">Hello</h1><a href="#x" id="a" title="t">link</a>
<form><input id="q" name="q"><input type="checkbox" id="c"><select id="s"><option>one<option>two</select></form>
<button id="b" type="button" onclick="this.textContent++">0</button>`

interface Case {
  readonly command: string
  readonly data?: Record<string, unknown>
  readonly plain: (page: Page) => Promise<unknown>
}

const cases: readonly Case[] = [
  { command: 'get_title', plain: (p) => p.title() },
  { command: 'get_text', data: { selector: '#h' }, plain: (p) => p.locator('#h').first().innerText() },
  {
    command: 'get_attribute',
    data: { selector: '#a', attribute: 'title' },
    plain: (p) => p.locator('#a').first().getAttribute('title'),
  },
  { command: 'evaluate', data: { expression: '1 + 1' }, plain: (p) => p.evaluate('1 + 1') },
  { command: 'click', data: { selector: '#b' }, plain: (p) => p.locator('#b').first().click() },
  { command: 'hover', data: { selector: '#a' }, plain: (p) => p.locator('#a').first().hover() },
  { command: 'focus', data: { selector: '#q' }, plain: (p) => p.locator('#q').first().focus() },
  { command: 'type_text', data: { selector: '#q', text: 'ten letters', clear: true }, plain: (p) => typeInto(p) },
  { command: 'check', data: { selector: '#c' }, plain: (p) => p.locator('#c').first().check() },
  {
    command: 'select_option',
    data: { selector: '#s', values: ['two'] },
    plain: (p) => p.locator('#s').first().selectOption(['two']),
  },
  {
    command: 'get_element_bounding_box',
    data: { selector: '#b' },
    plain: (p) => p.locator('#b').first().boundingBox(),
  },
  { command: 'screenshot', data: { full_page: false }, plain: (p) => p.screenshot() },
  { command: 'get_cookies', plain: (p) => p.context().cookies() },
]

async function typeInto(p: Page) {
  const field = p.locator('#q').first()
  await field.fill('')
  await field.pressSequentially('ten letters')
}

const batch = [
  'get_title',
  'click',
  'get_text',
  'evaluate',
  'get_attribute',
  'focus',
  'get_title',
  'click',
  'get_text',
  'hover',
  'evaluate',
  'get_element_bounding_box',
  'click',
  'get_title',
  'get_text',
  'check',
  'select_option',
  'evaluate',
  'get_attribute',
  'click',
]

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': page })
  const side = await openSides()
  try {
    const id = await side.createSession()
    const plain = await (await side.playwright.newContext()).newPage()
    await plain.goto(site.url)
    const run = (commands: readonly Case[]) =>
      side.engine.sessions.runCommands(
        { session_id: id, commands: commands.map(({ command, data }) => ({ command, ...(data && { data }) })) },
        call,
      )
    await side.engine.sessions.runCommands(
      { session_id: id, commands: [{ command: 'navigate_to', data: { url: site.url } }] },
      call,
    )

    await poolAtRest(side)
    const rows: Row[] = []
    for (const item of cases) {
      const times = await inTurn({ bax: () => run([item]), playwright: () => item.plain(plain) }, 15)
      rows.push({
        name: item.command,
        cells: [ms(times['bax']!), ms(times['playwright']!), ratio(times['bax']!, times['playwright']!)],
      })
    }
    const twenty = batch.map((name) => cases.find(({ command }) => command === name)!)
    const times = await inTurn({ bax: () => run(twenty), playwright: () => inOrder(twenty, plain) }, 9)
    rows.push({
      name: '**twenty commands in one batch**',
      cells: [ms(times['bax']!), ms(times['playwright']!), ratio(times['bax']!, times['playwright']!, 1.3)],
    })
    return [
      {
        title: 'Commands beside the same Playwright calls in-process',
        columns: [`bax ${msTitle}`, 'Playwright', 'ratio'],
        rows,
        note: `At the end: ${await sessionAge(side, id)}, ${await poolState(side)}.`,
      },
    ]
  } finally {
    await side.close()
    await site.close()
  }
}

async function inOrder(items: readonly Case[], page: Page) {
  for (const item of items) await item.plain(page)
}
