/** Cost of an observation compared with Playwright's own snapshot, and of a hundred readers of events. */
import { Worker } from 'node:worker_threads'
import type { Page } from 'playwright'
import { observationOptions, type Observation } from '../../src/core/shapes/observe.ts'
import { createApp } from '../../src/server/app.ts'
import { loopbackHosts, privateGate } from '../../src/server/access/gate.ts'
import { listen } from '../../src/server/process/listen.ts'
import { serveSite } from '../support/site.ts'
import { call, openSides, type Side } from './engines.ts'
import { inTurn, ms, msTitle, ratio, type Table, type Timing } from './measure.ts'
import { compareApplications } from './observe/comparison.ts'

/** 5 000 elements, 1 500 of them controls, like the product list of a shop. */
const products = Array.from(
  { length: 500 },
  (_, at) => `<article><h3>Tea ${at}</h3><p>A tea from garden number ${at}, mild and fresh.</p>
<p><b>${at + 3} EUR</b> <i>in stock</i></p><a href="/tea/${at}">Details of tea ${at}</a>
<label>Cups <input name="cups-${at}" value="1"></label><button>Buy tea ${at}</button></article>`,
).join('')
const chatty = `<!doctype html><title>Chatty</title><button id=b onclick="console.log('clicked')">Click</button>`

export async function measure(): Promise<Table[]> {
  const site = await serveSite({ '/': `<!doctype html><title>Tea</title><main>${products}</main>`, '/chatty': chatty })
  const side = await openSides()
  try {
    return [await snapshots(side, site.url), await compareApplications(side), await readers(side, `${site.url}/chatty`)]
  } finally {
    await side.close()
    await site.close()
  }
}

const controlRoles = /- '?(?:button|link|textbox|checkbox|combobox|radio)\b/g

async function snapshots(side: Side, url: string): Promise<Table> {
  const { engine, playwright, createSession } = side
  const id = await createSession()
  await navigate(side, id, url)
  const plain = await (await playwright.newContext({ viewport: { width: 1280, height: 720 } })).newPage()
  await plain.goto(url)
  const elements = await plain.evaluate(() => document.querySelectorAll('*').length)
  const observe = (wishes: Record<string, unknown>) =>
    engine.sessions.observe({ ...observationOptions.parse(wishes), session_id: id }, call)
  const everything = { limit: 5000, max_chars: 5_000_000 }
  const controls = { ...everything, interactive_only: true }
  const own = await plain.ariaSnapshot({ mode: 'ai' })
  const whole = await observe(everything)
  const bare = await observe(controls)
  const short = await observe({})
  const times = await inTurn(
    {
      playwright: () => (plain as Page).ariaSnapshot({ mode: 'ai' }),
      whole: () => observe(everything),
      bare: () => observe(controls),
      short: () => observe({}),
    },
    7,
  )
  const [of, max, middle, min] = [times['playwright']!, times['whole']!, times['bare']!, times['short']!]
  const size = (text: string, time: Timing, bound?: number) => [
    ms(time),
    ratio(time, of),
    String(text.length),
    `${(text.length / own.length).toFixed(2)}x${bound === undefined ? '' : ` (at most ${bound}x)`}`,
    String(text.match(controlRoles)?.length ?? 0),
  ]
  return {
    title: `An observation of a page with ${elements} elements`,
    columns: [msTitle, 'time', 'characters', 'to Playwright', 'controls named'],
    rows: [
      { name: "Playwright's ariaSnapshot, mode ai", cells: size(own, of) },
      {
        name: `bax observe, all text and every control, ${whole.elements!.length} elements listed`,
        cells: size(snapshotOf(whole), max, 1),
      },
      {
        name: `bax observe, every control and no text, ${bare.elements!.length} elements listed`,
        cells: size(snapshotOf(bare), middle, 1),
      },
      {
        name: `bax observe as it comes, ${short.elements!.length} elements listed`,
        cells: size(snapshotOf(short), min, 1),
      },
    ],
    note: 'bax adds selectors, values, boxes and lasting references of the elements that it lists; Playwright takes its snapshot within it.',
  }
}

const snapshotOf = ({ snapshot }: Observation): string => snapshot!

async function readers(side: Side, url: string): Promise<Table> {
  const { engine, createSession } = side
  const [quiet, watched] = [await createSession(), await createSession()]
  await navigate(side, quiet, url)
  await navigate(side, watched, url)
  const server = await listen(createApp({ engine, gate: { ...privateGate, hosts: loopbackHosts } }), {
    host: '127.0.0.1',
    port: 0,
  })
  const count = 100
  const batch = (id: string) =>
    engine.sessions.runCommands(
      { session_id: id, commands: Array.from({ length: 10 }, () => ({ command: 'click', data: { selector: '#b' } })) },
      call,
    )
  const { ended } = await readInWorker(`${server.address}/stream/sse?session_id=${watched}&replay=all`, count)
  const times = await inTurn({ quiet: () => batch(quiet), watched: () => batch(watched) }, 15)
  await engine.sessions.close(watched, call)
  const seen = await ended
  await server.close()
  const sent = Math.max(...seen.map((numbers) => numbers.length))
  const lost = seen.reduce((sum, numbers) => sum + sent - new Set(numbers).size, 0)
  const inOrder = seen.every((numbers) => numbers.every((number, at) => number === at + 1))
  return {
    title: `${count} parallel readers of one session's events over HTTP`,
    columns: [`ten clicks, ${msTitle}`, 'to none', 'events each', 'lost', 'in order'],
    rows: [
      { name: 'no reader', cells: [ms(times['quiet']!), '1x', '', '', ''] },
      {
        name: `${count} readers, in a thread of their own`,
        cells: [
          ms(times['watched']!),
          ratio(times['watched']!, times['quiet']!),
          String(sent),
          String(lost),
          inOrder ? 'yes' : 'NO',
        ],
      },
    ],
  }
}

const navigate = ({ engine }: Side, id: string, url: string) =>
  engine.sessions.runCommands({ session_id: id, commands: [{ command: 'navigate_to', data: { url } }] }, call)

/** Opens the streams in a worker thread; `ended` resolves with the numbers that each reader received. */
async function readInWorker(address: string, count: number): Promise<{ ended: Promise<number[][]> }> {
  const worker = new Worker(readerCode, { eval: true, workerData: { address, count } })
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const ended = new Promise<number[][]>((resolve, reject) => {
    worker.on('error', reject).on('message', (message: number[][] | 'opened') => {
      if (message === 'opened') open()
      else resolve(message)
    })
  })
  await Promise.race([opened, ended])
  return { ended }
}

const readerCode = `
const { get } = require('node:http')
const { parentPort, workerData: { address, count } } = require('node:worker_threads')
let open = 0
const read = () => new Promise((resolve, reject) => {
  get(address, { agent: false }, (response) => {
    if (++open === count) parentPort.postMessage('opened')
    let text = ''
    response.setEncoding('utf8').on('data', (chunk) => { text += chunk })
    response.on('error', reject).on('end', () => resolve([...text.matchAll(/^id: (\\d+)$/gm)].map(([, id]) => Number(id))))
  }).on('error', reject)
})
Promise.all(Array.from({ length: count }, read)).then((all) => parentPort.postMessage(all))
`
