/** Direct actions beside those of Playwright: the same outcome on pages that change under them. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CommandResult } from '../../src/core/shapes/commands.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

/** Every page counts what its elements receive in `log`, in order. */
const head = `<!doctype html><style>body{margin:0} button{width:100px;height:40px} .cover{position:fixed;inset:0;background:#eee}
  .slide{position:relative;animation:slide .4s linear} @keyframes slide{from{left:300px}to{left:0}}
  .spin{display:block;width:20px;animation:spin 1s linear infinite} @keyframes spin{to{transform:rotate(360deg)}}</style>
<script>
  window.log = []
  for (const type of ['mousedown', 'mouseup', 'click']) document.addEventListener(type, (event) => log.push(event.target.id + ':' + type), true)
  const cover = (ms) => { const div = document.createElement('div'); div.id = 'cover'; div.className = 'cover'; document.body.append(div); if (ms) setTimeout(() => div.remove(), ms) }
</script>`

const pages = {
  '/still': '<button id=b>Buy</button>',
  '/beside-spinner': '<i class=spin></i><button id=b>Buy</button>',
  '/slides-in': '<button id=b class=slide>Buy</button>',
  '/moved-by-script': `<button id=b style="position:relative">Buy</button><script>
    let left = 300; const move = () => { left -= 10; b.style.left = left + 'px'; if (left > 0) requestAnimationFrame(move) }; move()</script>`,
  '/never-rests': `<button id=b style="position:relative">Buy</button><script>
    let at = 0; const move = () => { b.style.left = (at = (at + 7) % 400) + 'px'; requestAnimationFrame(move) }; move()</script>`,
  '/late': `<script>setTimeout(() => document.body.innerHTML = '<button id=b>Buy</button>', 150)</script>`,
  '/shown-late': '<button id=b hidden>Buy</button><script>setTimeout(() => b.hidden = false, 150)</script>',
  '/enabled-late': '<button id=b disabled>Buy</button><script>setTimeout(() => b.disabled = false, 150)</script>',
  '/enabled-by-fieldset':
    '<fieldset id=f disabled><button id=b>Buy</button></fieldset><script>setTimeout(() => f.disabled = false, 150)</script>',
  '/inert-first':
    '<div id=d inert><button id=b>Buy</button></div><script>setTimeout(() => d.inert = false, 150)</script>',
  '/covered-first': '<button id=b>Buy</button><script>cover(200)</script>',
  '/covered-by-hover':
    '<button id=b>Buy</button><script>let once; b.onmouseover = () => { if (!once) { once = true; cover(150) } }</script>',
  '/covered-by-move':
    '<button id=b>Buy</button><script>let once; addEventListener("mousemove", () => { if (!once) { once = true; cover(150) } }, true)</script>',
  '/covered-for-good': '<button id=b>Buy</button><script>cover()</script>',
  '/replaced-by-hover': `<p id=p><button id=b>Buy</button></p><script>let once; b.onmouseover = () => { if (!once) { once = true; p.innerHTML = '<button id=b>Buy</button>' } }</script>`,
  '/swapped-by-hover': `<div id=p><button id=b>Buy</button></div><script>let once; b.onmouseenter = () => { if (!once) { once = true; p.insertAdjacentHTML('afterbegin', '<button id=other>Sell</button><br>') } }</script>`,
  '/seen-first': `<div id=p><button id=b>Buy</button></div><script>
    for (const type of ['mousedown', 'mouseup', 'click']) addEventListener(type, (event) => event.target.id === 'b' || log.push('first ' + type), true)
    let once; b.onmouseenter = () => { if (!once) { once = true; p.insertAdjacentHTML('afterbegin', '<button id=other>Sell</button><br>') } }</script>`,
  '/moved-away-by-hover': `<button id=b style="position:absolute">Buy</button><button id=other>Sell</button><script>
    let once; b.onmouseenter = () => { if (!once) { once = true; b.style.left = '200px' } }</script>`,
  '/gone-by-hover':
    '<button id=b>Buy</button><button id=other>Sell</button><script>b.onmouseenter = () => b.remove()</script>',
  '/replaced-often': `<p id=p></p><script>const renew = () => p.innerHTML = '<button id=b>Buy</button>'; renew()
    let left = 20; const next = () => { renew(); if (left--) requestAnimationFrame(next) }; next()</script>`,
  '/jumps-often': `<div id=gap></div><button id=b>Buy</button><button id=other>Sell</button><script>
    let left = 20; const next = () => { gap.style.height = left % 2 ? '60px' : '0'; if (left--) requestAnimationFrame(next) }; next()</script>`,
  '/frame-by-hover': `<button id=b>Buy</button><script>let once; b.onmouseover = () => { if (once) return; once = true
    const frame = document.createElement('iframe'); frame.id = 'cover'; frame.className = 'cover'; frame.style.cssText = 'width:100%;height:100%;border:0'; document.body.append(frame) }</script>`,
  '/pressed-away':
    '<button id=b>Buy</button><button id=other>Sell</button><script>b.onmousedown = () => b.remove()</script>',
  '/below': '<div style="height:3000px"></div><button id=b>Buy</button><div style="height:3000px"></div>',
  '/scroller':
    '<div style="height:100px;overflow:auto"><div style="height:500px"></div><button id=b>Buy</button></div>',
  '/label': '<label id=b>Accept <input type=checkbox id=c></label>',
  '/label-of-parts':
    '<label id=b><input type=checkbox id=c> I agree to the <a id=terms href="#terms">terms of this service</a></label>',
  '/link-of-parts':
    '<a id=b href="#x"><img id=i width=20 height=20> some words <b id=x onclick="event.preventDefault()">remove</b></a>',
  '/blocks-in-link':
    '<a id=b href="#x"><div id=x style="height:100px">one</div><div id=y style="height:300px">two</div></a>',
  '/moved-in-shadow': `<x-a id=host><button id=b>Buy</button></x-a><script>
    const shadow = host.attachShadow({ mode: 'open' }); shadow.innerHTML = '<div><slot></slot></div>'
    let at = 0; const move = () => { shadow.firstChild.style.marginLeft = (at = (at + 7) % 400) + 'px'; requestAnimationFrame(move) }; move()</script>`,
  '/inline': '<div style="width:80px"><a id=b href="#x">a long link that takes several lines</a></div>',
  '/child': '<button id=b><span id=s>Buy</span></button>',
  '/host': `<div id=host></div><script>host.attachShadow({ mode: 'open' }).innerHTML = '<button id=b>Buy</button>'</script>`,
  '/closed-host': `<button id=b><x-a id=host></x-a></button><script>host.attachShadow({ mode: 'closed' }).innerHTML = '<i>Buy</i>'</script>`,
  '/two': '<button class=b id=hidden hidden>No</button><button class=b id=b>Buy</button>',
  '/opened-again': `<script>document.open(); document.write('<button id=b>Buy</button><script>log = []; for (const type of ["mousedown", "mouseup", "click"]) document.addEventListener(type, (event) => log.push(event.target.id + ":" + type), true)<' + '/script>'); document.close()</script>`,
  '/alerts': '<button id=b onclick="alert(1)">Buy</button>',
  '/asks': '<button id=b onclick="confirm(1)">Buy</button>',
  '/leaves': '<a id=b href="/still?left">Leave</a>',
  '/downloads': '<a id=b href="/file">Load</a>',
  '/reloads': '<button id=b onclick="location.reload()">Again</button>',
  '/form': `<form onsubmit="log.push('submit'); return false"><input id=q value=old><input id=n type=number value=1><input id=d type=date><input id=r readonly value=x>
    <input id=x disabled><input id=p type=password><textarea id=t>old</textarea><div id=e contenteditable>old</div><label id=l>Name <input id=i></label>
    <input type=checkbox id=c><input type=checkbox id=k checked><input type=checkbox id=stays onclick="return false"><input type=radio id=o><label id=lc>All <input type=checkbox id=a></label>
    <select id=s><option value=1>one<option value=2>two<option value=3 disabled>three</select><select id=m multiple><option>a<option>b<option>c</select>
    <input id=up oninput="this.value = this.value.toUpperCase()"><input id=nokeys onkeydown="return false"><input id=next oninput="q.focus()">
    <input id=late disabled><input id=gone oninput="if (value.length === 3) this.remove()"><input type=file id=f><button id=send>Send</button></form><script>
    for (const type of ['keydown', 'keyup', 'input', 'change', 'focus', 'blur']) document.addEventListener(type, (event) => log.push(event.target.id + ':' + type + (event.key ?? '')), true)
    setTimeout(() => late.disabled = false, 150)</script>`,
  '/checked-again': `<p id=p><input type=checkbox id=b></p><script>b.onchange = () => { log.push('change'); p.innerHTML = '<input type=checkbox id=b checked>' }</script>`,
  '/submits': `<form action=/slow><input type=checkbox id=b name=b onchange="this.form.submit()"></form>`,
}

/** Two buttons that change places for a while, after pseudorandom pauses: a failure can be repeated. */
function turns(seed: number): string {
  let state = seed * 7919
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const pauses = Array.from({ length: 12 }, () => Math.floor(random() * 60))
  return `${head}<style>button{position:absolute;left:0}</style><button id=b>Buy</button><button id=other>Sell</button><script>
    const tops = [[0, 60], [60, 0], [120, 0], [0, 0]]
    const pauses = ${JSON.stringify(pauses)}
    const next = () => { const [own, others] = tops[pauses.length % 4]; b.style.top = own + 'px'; other.style.top = others + 'px'
      if (pauses.length) setTimeout(next, pauses.pop()) }
    next()</script>`
}

/** Pages with tests of their own. On two of them Playwright lets listeners of the page see a click, or reports a wrong one. */
const only = new Set([
  '/two',
  '/form',
  '/checked-again',
  '/submits',
  '/moved-in-shadow',
  '/frame-by-hover',
  '/seen-first',
  '/never-rests',
])

let site: Site
let homes: Homes
let session: string

beforeAll(async () => {
  const served = Object.fromEntries(Object.entries(pages).map(([path, body]) => [path, head + body]))
  const computed: Parameters<typeof serveSite>[0] = {
    '/slow': (_, response) => void setTimeout(() => response.setHeader('content-type', 'text/html').end(head), 300),
    '/file': (_, response) => void response.setHeader('content-disposition', 'attachment; filename=a.txt').end('text'),
    '/turns': ({ url }, response) =>
      void response.setHeader('content-type', 'text/html').end(turns(Number(url!.split('?')[1]))),
  }
  ;[site, homes] = await Promise.all([serveSite({ ...served, ...computed }), openHomes()])
  session = (await homes.clients.embedded.createSession({ headless: true })).session_id!
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await homes?.close()
  await site?.close()
})

type Step = [command: string, data?: Record<string, unknown>]

async function run(steps: Step[]): Promise<CommandResult[]> {
  const commands = steps.map(([command, data]) => ({ command, ...(data && { data }) }))
  return (await homes.clients.embedded.runCommands({ session_id: session, commands, continue_on_error: true })).results
}

const ways = { direct: '1', playwright: '0' } as const

/** Opens a page, runs a command on it, and returns what can be seen of its outcome. */
async function outcome(way: keyof typeof ways, path: string, step: Step) {
  vi.stubEnv('BAX_DIRECT_ACTIONS', ways[way])
  const read: Step = [
    'evaluate',
    {
      expression: `({ log: window.log, values: [...document.querySelectorAll('input, select, textarea')].map((field) => field.type + ':' + (field.checked ?? '') + ':' + field.value), focus: document.activeElement?.id, url: location.pathname + location.search, scrolled: scrollY > 0 })`,
    },
  ]
  const [, acted, seen] = await run([['navigate_to', { url: site.url + path }], step, read])
  const { success, code, error, details, matches, data } = acted!
  const known = details as { delivered?: boolean; outcome?: string; typed?: number } | undefined
  const { events } = await homes.clients.embedded.getSessionLog({ session_id: session })
  const finished = events.findLast(({ type, data }) => type === 'command.finished' && data['index'] === 1)
  return {
    direct: finished!.data['direct'],
    success,
    code,
    matches,
    data,
    error: error?.replaceAll(/\d+ ms/g, 'N ms'),
    delivered: known?.delivered,
    unknown: known?.outcome,
    typed: known?.typed,
    page: (seen!.data?.['result'] as { value: unknown } | undefined)?.value,
  }
}

/** Pages whose element is ready: nothing has to be left to Playwright, which the direct way would be compared with. */
const ready = new Set([
  '/still',
  '/beside-spinner',
  '/child',
  '/closed-host',
  '/inline',
  '/two',
  '/opened-again',
  '/pressed-away',
  '/alerts',
  '/asks',
  '/leaves',
  '/downloads',
  '/reloads',
])

/** Fields of `/form` that are ready for a command. */
const readyFields: Record<string, readonly string[]> = {
  fill: ['#q', '#n', '#p', '#t', '#i', '#up'],
  type_text: ['#q', '#n', '#p', '#t', '#i', '#up', '#nokeys', '#next'],
  press_key: ['#nokeys', '#next'],
  check: ['#c', '#k', '#o', '#a'],
  uncheck: ['#c', '#k', '#a'],
  select_option: ['#s', '#m'],
  get_text: ['#q', '#t', '#e', '#l', '#s'],
  get_attribute: ['#q', '#t', '#e', '#l', '#s'],
  get_bounding_boxes: ['#q', '#t', '#e', '#l', '#s', '#none'],
}

/** The same element for Playwright's script in the page, in place of a plain CSS selector. */
const byEngine = ([command, data]: Step): Step => [
  command,
  { ...data, selector: String(data!['selector']).replace(/^#/, 'id=') },
]

/** Both ways, which must agree. */
async function both(path: string, step: Step) {
  const byPlaywright = await outcome('playwright', path, step)
  const [command, data] = step
  const selector = data!['selector'] as string
  const isReady = byPlaywright.success && (ready.has(path) || readyFields[command]?.includes(selector))
  const isShort = path === '/form' ? isReady : !hopeless.has(path)
  for (const own of selector.startsWith('#') && isShort ? [step, byEngine(step)] : [step]) {
    const directly = await outcome('direct', path, own)
    const error = directly.error?.replaceAll(String(own[1]!['selector']), selector)
    // The time may be over while an attempt is made, whose outcome is not known then.
    const isOpen = hopeless.has(path) && (directly.unknown ?? byPlaywright.unknown) !== undefined
    if (isOpen) expect([directly.success, directly.page]).toEqual([false, byPlaywright.page])
    else expect({ ...directly, error }).toEqual({ ...byPlaywright, direct: directly.direct })
    // A page that does not answer at once is left to Playwright, which happens on a busy machine.
    if (isReady && !directly.direct) await waitUntil(async () => (await outcome('direct', path, own)).direct === true)
  }
  expect(byPlaywright.direct).toBeUndefined()
  return byPlaywright
}

/** Pages whose element never becomes ready: commands wait for it until their time is over. */
const hopeless = new Set(['/covered-for-good', '/never-rests', '/moved-in-shadow', '/gone-by-hover', '/frame-by-hover'])

/** The element of a page, with the time that a busy machine needs. */
const targetOf = (path: string) => ({ selector: '#b', timeout_ms: hopeless.has(path) ? 3000 : 10_000 })

describe('a click on an element that changes has the outcome of Playwright', () => {
  test.each(Object.keys(pages).filter((path) => !only.has(path)))('%s', async (path) => {
    await both(path, ['click', targetOf(path)])
  })

  test('the first visible of several matches', async () => {
    expect(await both('/two', ['click', { selector: '.b' }])).toMatchObject({ success: true, matches: 2 })
    const parts: Step = ['get_text', { selector: 'xpath=//label | //a' }]
    expect(await both('/label-of-parts', parts)).toMatchObject({ success: true, matches: 2 })
  })

  test('input that would reach another element is withheld from all listeners of the page', async () => {
    expect(await outcome('direct', '/seen-first', ['click', targetOf('/seen-first')])).toMatchObject({
      success: true,
      page: { log: ['b:mousedown', 'b:mouseup', 'b:click'] },
    })
  })

  test('a click that a frame takes is no success', async () => {
    expect(await outcome('direct', '/frame-by-hover', ['click', targetOf('/frame-by-hover')])).toMatchObject({
      success: false,
      code: 'element_obscured',
    })
  })

  test('an element that never rests is not clicked', async () => {
    for (const path of ['/never-rests', '/moved-in-shadow'])
      expect(await both(path, ['click', targetOf(path)])).toMatchObject({ success: false, delivered: false })
  })

  test('the first document of a session gets no click for another element, either', async () => {
    vi.stubEnv('BAX_DIRECT_ACTIONS', '1')
    const { session_id } = await homes.clients.embedded.createSession({ headless: true })
    const commands = [
      { command: 'navigate_to', data: { url: `${site.url}/seen-first` } },
      { command: 'click', data: targetOf('/seen-first') },
      { command: 'evaluate', data: { expression: 'log' } },
    ]
    const { results } = await homes.clients.embedded.runCommands({ session_id: session_id!, commands })
    expect(results[2]!.data).toMatchObject({ result: { value: ['b:mousedown', 'b:mouseup', 'b:click'] } })
    await homes.clients.embedded.closeSession({ session_id: session_id! })
  })
})

describe('a hover has the outcome of Playwright', () => {
  test.each([
    '/still',
    '/slides-in',
    '/covered-first',
    '/covered-for-good',
    '/never-rests',
    '/gone-by-hover',
    '/below',
  ])('%s', async (path) => void (await both(path, ['hover', targetOf(path)])))
})

describe('fields', () => {
  /** Fields that a command waits for until its time is over; the others get the time that a busy machine needs. */
  const neverReady = new Set(['#r', '#x', '#none'])
  const waitMs = 700
  const on = (selector: string, more: object = {}) => ({
    selector,
    timeout_ms: neverReady.has(selector) ? waitMs : 10_000,
    ...more,
  })

  test.each([
    '#q',
    '#n',
    '#d',
    '#r',
    '#x',
    '#p',
    '#t',
    '#e',
    '#l',
    '#i',
    '#c',
    '#s',
    '#up',
    '#late',
    '#gone',
    '#f',
    '#none',
  ])('fill and type_text do with %s what Playwright does', async (selector) => {
    await both('/form', ['fill', on(selector, { text: '12' })])
    await both('/form', ['type_text', on(selector, { text: '123' })])
    await both('/form', ['type_text', on(selector, { text: '4 é\nA', clear: true })])
  })

  test.each(['#nokeys', '#next'])('type_text and press_key do with %s what Playwright does', async (selector) => {
    await both('/form', ['type_text', on(selector, { text: 'abc' })])
    await both('/form', ['press_key', on(selector, { key: 'a' })])
    await both('/form', ['press_key', on(selector, { key: 'Enter' })])
    await both('/form', ['press_key', on(selector, { key: 'Nothing' })])
  })

  test.each(['#c', '#k', '#stays', '#o', '#a', '#lc', '#q', '#none'])(
    'check and uncheck do with %s what Playwright does',
    async (selector) => {
      await both('/form', ['check', on(selector)])
      await both('/form', ['uncheck', on(selector)])
    },
  )

  test('check succeeds when the change replaces the box', async () => {
    expect(await both('/checked-again', ['check', on('#b')])).toMatchObject({ success: true })
  })

  test('check succeeds when the change submits the form', async () => {
    // Playwright sometimes looks for the box on the next page.
    expect(await outcome('direct', '/submits', ['check', on('#b')])).toMatchObject({ success: true })
  })

  test.each([
    ['#s', ['2']],
    ['#s', ['one']],
    ['#s', ['three']],
    ['#s', ['no']],
    ['#m', ['c', 'a']],
    ['#m', ['c', 'no']],
    ['#q', ['1']],
  ])('select_option does with %s and %j what Playwright does', async (selector, values) => {
    // A missing option may still appear.
    const isMissing = values.includes('no') || values.includes('three')
    await both('/form', ['select_option', on(selector, { values, ...(isMissing && { timeout_ms: 3000 }) })])
  })

  test.each(['#q', '#t', '#e', '#l', '#s', '#none'])(
    'get_text, get_attribute and get_bounding_boxes read of %s what Playwright reads',
    async (selector) => {
      await both('/form', ['get_bounding_boxes', { selector }])
      await both('/form', ['get_text', on(selector)])
      await both('/form', ['get_attribute', on(selector, { attribute: 'value' })])
    },
  )
})

describe('a position that elements take in turn', () => {
  test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
    'delivers no click to another one (%i)',
    async (seed) => {
      vi.stubEnv('BAX_DIRECT_ACTIONS', '1')
      const url = `${site.url}/turns?${seed}`
      const [, clicked, seen] = await run([
        ['navigate_to', { url }],
        ['click', targetOf('/turns')],
        ['evaluate', { expression: 'log' }],
      ])
      const log = (seen!.data!['result'] as { value: string[] }).value
      // The elements may change places between the press and the release, as they do for people.
      expect(log.filter((entry) => /^other:(?:mousedown|click)/.test(entry))).toEqual([])
      expect(log.includes('b:mousedown')).toBe(clicked!.success)
    },
  )
})
