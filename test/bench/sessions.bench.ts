/** Cost of a session: time compared with Playwright, memory of 25 sessions, and what fifty leave behind. */
import { setTimeout as wait } from 'node:timers/promises'
import { serveSite } from '../support/site.ts'
import { call, openSides, poolAtRest, poolState, type Side } from './engines.ts'
import { ms, msTitle, ratio, type Table, timing, treeMemory } from './measure.ts'

const page = `<!doctype html><title>A page</title><h1>Hello</h1>${'<p>Some text of a page.</p>'.repeat(50)}`

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': page })
  const side = await openSides()
  try {
    return [await creation(side), await inARow(side, false), await inARow(side, true), await memory(side, site.url)]
  } finally {
    await side.close()
    await site.close()
  }
}

/** As users see it: create a session, use it, close it; the pool refills meanwhile. */
async function creation(side: Side): Promise<Table> {
  const { engine, playwright, createSession } = side
  const made: string[] = []
  const contexts: Awaited<ReturnType<typeof playwright.newContext>>[] = []
  const rounds = 15
  const bax: number[] = []
  const plain: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now()
    made.push(await createSession())
    const between = performance.now()
    const context = await playwright.newContext()
    contexts.push(context)
    await context.newPage()
    if (round > 0) {
      bax.push(between - start)
      plain.push(performance.now() - between)
    }
    // The refill in the background is part of the design: sessions are not always created back to back.
    await wait(150)
  }
  await Promise.all(made.map((id) => engine.sessions.close(id, call)))
  await Promise.all(contexts.map((context) => context.close()))
  const [of, to] = [timing(bax), timing(plain)]
  return {
    title: 'Session create on a warm engine',
    note: `A session every 150 ms, so that the pool is full; at the end: ${await poolState(side)}.`,
    columns: [msTitle, 'to Playwright'],
    rows: [
      { name: 'Playwright newContext + newPage', cells: [ms(to), '1x'] },
      { name: 'bax session create (engine call)', cells: [ms(of), ratio(of, to, 0.3)] },
    ],
  }
}

/** Creates and closes sessions without a pause, so that the pool has to refill meanwhile. */
async function inARow(side: Side, isUsed: boolean): Promise<Table> {
  const { engine, playwright, createSession } = side
  const count = 100
  const evaluate = { command: 'evaluate', data: { expression: '1 + 1' } }
  const times = { bax: [] as number[], refilled: [] as number[], plain: [] as number[] }
  await poolAtRest(side)
  const before = await poolState(side)
  for (let round = 0; round < 5; round++) {
    const start = performance.now()
    for (let left = count; left > 0; left--) {
      const id = await createSession()
      if (isUsed) await engine.sessions.runCommands({ session_id: id, commands: [evaluate] }, call)
      await engine.sessions.close(id, call)
    }
    const end = performance.now()
    times.bax.push(end - start)
    // Playwright's turn must not share the processor with the refill.
    times.refilled.push(Math.max(end, await poolAtRest(side)) - start)
    const between = performance.now()
    for (let left = count; left > 0; left--) {
      const context = await playwright.newContext()
      const page = await context.newPage()
      if (isUsed) await page.evaluate('1 + 1')
      await context.close()
    }
    times.plain.push(performance.now() - between)
  }
  const [of, full, to] = [timing(times.bax), timing(times.refilled), timing(times.plain)]
  const what = isUsed ? 'one evaluation' : 'no command'
  const note = isUsed
    ? ''
    : ' Playwright waits for each page; bax does not open the page of a session that is closed at once.'
  return {
    title: `${count} sessions in a row, each created, used for ${what} and closed`,
    columns: [msTitle, 'to Playwright'],
    rows: [
      { name: 'Playwright', cells: [ms(to), '1x'] },
      { name: 'bax', cells: [ms(of), ratio(of, to, isUsed ? undefined : 0.4)] },
      { name: 'bax, until the pool is full again', cells: [ms(full), ratio(full, to)] },
    ],
    note: `At the beginning: ${before}; between the turns the pool is filled again.${note}`,
  }
}

async function memory({ engine, createSession }: Side, url: string): Promise<Table> {
  const browserMemory = async () => {
    const { browsers } = await engine.status()
    return browsers.reduce((sum, { pid }) => sum + treeMemory(pid), 0)
  }
  const before = await browserMemory()
  const use = async (count: number) => {
    const ids = await Promise.all(Array.from({ length: count }, createSession))
    for (const id of ids)
      await engine.sessions.runCommands(
        { session_id: id, commands: [{ command: 'navigate_to', data: { url } }, { command: 'get_title' }] },
        call,
      )
    return ids
  }
  const first = await use(25)
  const at25 = await browserMemory()
  await Promise.all(first.map((id) => engine.sessions.close(id, call)))
  const second = await use(50)
  await Promise.all(second.map((id) => engine.sessions.close(id, call)))
  await wait(2000)
  const after = await browserMemory()
  const each = at25 / 25
  return {
    title: 'Memory of the browser (PSS)',
    columns: ['MB'],
    rows: [
      { name: 'no session, pool warm', cells: [before.toFixed(0)] },
      { name: '25 sessions with a page each', cells: [at25.toFixed(0)] },
      { name: 'a session, of 25', cells: [`${each.toFixed(1)} (at most 40${each <= 40 ? '' : ', MISSED'})`] },
      { name: 'after 50 more were created, used and deleted', cells: [after.toFixed(0)] },
    ],
  }
}
