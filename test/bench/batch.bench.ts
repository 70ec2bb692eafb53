/** Batches of 200 commands beside agent-browser and Playwright, in a new and in an aged session, and eight at once. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import type { CommandCall } from '../../src/core/shapes/commands.ts'
import { serveSite } from '../support/site.ts'
import { call, openSides, poolAtRest, poolState, type Side } from './engines.ts'
import { inTurn, ms, msTitle, ratio, type Table } from './measure.ts'
import { agentBrowserVersion, installPeers } from './peers.ts'

const page = `<!doctype html><title>A page</title><h1 id="h">Hello</h1><input id="q">
<button id="b" type="button" onclick="this.textContent++">0</button>`

const text = 'ten letters'
const rounds = 50
const agingCommands = 832

/** Opens a page, clicks, types and reads, `count` commands in all. */
const commandsFor = (url: string, count = 4 * rounds): CommandCall[] => {
  const round = [
    { command: 'navigate_to', data: { url } },
    { command: 'click', data: { selector: '#b' } },
    { command: 'type_text', data: { selector: '#q', text } },
    { command: 'get_text', data: { selector: '#h' } },
  ]
  return Array.from({ length: count }, (_, index) => round[index % round.length]!)
}

/** The same in agent-browser's spelling. */
const agentInput = (url: string): string => {
  const round = [
    ['open', url],
    ['click', '#b'],
    ['type', '#q', text],
    ['get', 'text', '#h'],
  ]
  return JSON.stringify(Array.from({ length: rounds }, () => round).flat())
}

/** The same with Playwright. */
async function byPlaywright(plain: Page, url: string, count = 4 * rounds): Promise<void> {
  const steps = [
    () => plain.goto(url),
    () => plain.locator('#b').first().click(),
    () => plain.locator('#q').first().pressSequentially(text),
    () => plain.locator('#h').first().innerText(),
  ]
  for (let index = 0; index < count; index++) await steps[index % steps.length]!()
}

async function run({ engine }: Side, id: string, commands: CommandCall[]): Promise<void> {
  const { error } = await engine.sessions.runCommands({ session_id: id, commands }, call)
  if (error !== undefined) throw new Error(error)
}

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': page })
  const side = await openSides()
  try {
    return [await batches(side, site.url), await parallel(side, site.url)]
  } finally {
    await side.close()
    await site.close()
  }
}

async function batches(side: Side, url: string): Promise<Table> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  const { agent } = await installPeers(folder)
  const [fresh, aged] = [await side.createSession(), await side.createSession()]
  const open = async () => (await side.playwright.newContext()).newPage()
  const [plain, agedPlain] = [await open(), await open()]
  await run(side, aged, commandsFor(url, agingCommands))
  await byPlaywright(agedPlain, url, agingCommands)
  await agent(['open', url])
  await poolAtRest(side)
  try {
    // The first round counts too: each further one ages the new session by 200 commands.
    const times = await inTurn(
      {
        agent: async () => {
          const answer = await agent(['batch', '--json', '--bail'], agentInput(url))
          const done = answer.match(/"success":true/g)?.length
          if (done !== 4 * rounds) throw new Error(`agent-browser ran ${done} commands`)
        },
        fresh: () => run(side, fresh, commandsFor(url)),
        aged: () => run(side, aged, commandsFor(url)),
        playwright: () => byPlaywright(plain, url),
        agedPlaywright: () => byPlaywright(agedPlain, url),
      },
      5,
      { warmUp: false },
    )
    const state = await poolState(side)
    const row = (name: string, key: string, atMost?: number) => {
      const cells = [
        ms(times[key]!),
        ratio(times[key]!, times['agent']!, atMost),
        ratio(times[key]!, times['playwright']!),
      ]
      return { name, cells }
    }
    return {
      title: '200 commands in one batch: open, click, type, read',
      columns: [msTitle, 'to agent-browser', 'to Playwright'],
      rows: [
        row(`agent-browser ${agentBrowserVersion}, its native program, batch`, 'agent'),
        row('bax, new session', 'fresh', 1.3),
        row(`bax, session after ${agingCommands} commands`, 'aged', 1.3),
        row('Playwright in-process, new page', 'playwright'),
        row(`Playwright in-process, page after ${agingCommands} commands`, 'agedPlaywright'),
      ],
      note: `Each further round ages the new session by 200 commands; ${state}. bax and Playwright press and release every key; agent-browser inserts each character without key events.`,
    }
  } finally {
    await agent(['close'])
    await rm(folder, { recursive: true, force: true })
  }
}

async function parallel(side: Side, url: string): Promise<Table> {
  const sessions = 8
  const commands = commandsFor(url, 50)
  const ids = await Promise.all(Array.from({ length: sessions }, side.createSession))
  const pages = await Promise.all(
    Array.from({ length: sessions }, async () => (await side.playwright.newContext()).newPage()),
  )
  const times = await inTurn(
    {
      bax: () => Promise.all(ids.map((id) => run(side, id, commands))),
      playwright: () => Promise.all(pages.map((plain) => byPlaywright(plain, url, commands.length))),
    },
    7,
  )
  const [bax, playwright] = [times['bax']!, times['playwright']!]
  return {
    title: `${sessions} sessions with ${commands.length} commands each, at once`,
    columns: [msTitle, 'to Playwright'],
    rows: [
      { name: 'Playwright in-process', cells: [ms(playwright), '1x'] },
      { name: 'bax', cells: [ms(bax), ratio(bax, playwright, 1)] },
    ],
    note: `Sessions of 50 to 400 commands; ${await poolState(side)}.`,
  }
}
