/** Text typed into pages that react to keys: at once, or later, but before the next key. As with Playwright. */
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Homes, openHomes } from '../support/homes.ts'
import { reactionToKeys } from '../../src/engine/browser/direct/key-listeners.ts'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import type { Reacts } from '../../src/engine/browser/page/internals.ts'
import { serveSite, type Site } from '../support/site.ts'

const boxes = '<input id=a maxlength=1><input id=b maxlength=1><input id=c maxlength=1><input id=d>'
const next = 'const next = ({ target }) => target.nextElementSibling?.focus();'
const on = (type: string, then: string) => `addEventListener('${type}', (event) => ${then});`

/** Scripts of pages that react to keys for `#a`, and the keys after which the engine has to wait for each of them. */
const scripts: Record<string, readonly [reacts: Reacts, script: string]> = {
  nothing: ['never', ''],
  'other events': ['never', next + on('click', 'next(event)') + on('change', 'next(event)')],
  'focus moves with input': ['to presses', next + on('input', 'next(event)')],
  'focus moves after input': ['to presses', next + on('input', 'setTimeout(() => next(event))')],
  'focus moves with release': ['always', next + on('keyup', 'next(event)')],
  'focus moves after release': ['always', next + on('keyup', 'setTimeout(() => next(event))')],
  'focus moves after press': ['to presses', `${next}document.${on('keydown', 'setTimeout(() => next(event))')}`],
  'focus moves by attribute': ['always', "a.setAttribute('onkeyup', 'b.focus()')"],
  'focus moves by property': ['always', `${next}document.body.onkeyup = (event) => next(event)`],
  'listener added by focus': ['always', "a.onfocus = () => a.addEventListener('keyup', () => d.focus())"],
  'keys cancelled': ['to presses', on('keydown', "event.key === 'b' && event.preventDefault()")],
  'text cancelled': ['to presses', on('beforeinput', "event.data === 'c' && event.preventDefault()")],
  'value rewritten': ['to presses', on('input', 'event.target.value = event.target.value.toUpperCase()')],
  'value rewritten by a microtask': [
    'to presses',
    `a.maxLength = 9; ${on('input', "queueMicrotask(() => { a.value = a.value + '-' })")}`,
  ],
  'value restored': ['to presses', `a.maxLength = 9; ${on('input', "a.value = 'old'")}`],
  'field removed': ['always', on('keyup', 'event.target.value.length > 0 && event.target.remove()')],
  'selection changed': [
    'to presses',
    `a.maxLength = 9; document.${on('selectionchange', 'setTimeout(() => a.setSelectionRange(0, 0))')}`,
  ],
  'focus moves into a frame': [
    'to presses',
    `const frame = document.createElement('iframe'); frame.srcdoc = '<input id=x>'; document.body.append(frame)
    a.maxLength = 9; ${on('keydown', "event.key === 'b' && frame.contentDocument.querySelector('input').focus()")}`,
  ],
  'inside a component': [
    'always',
    `const host = document.createElement('x-a'); a.before(host); host.append(a)
    host.attachShadow({ mode: 'closed' }).innerHTML = '<div><slot></slot></div>'`,
  ],
}

/** Whether a timer reacts: it may or may not run before the next key, also with Playwright. */
const isTimed = (script: string) => script.includes('setTimeout')

/** Reads what the fields have, and what they have received. */
const log = `window.log = []; for (const type of ['keydown', 'keypress', 'beforeinput', 'input', 'keyup']) addEventListener(type, (event) => log.push(event.target.id + ':' + type + (event.key ?? event.data ?? '')), true)`
const values = `({ log: window.log, focus: document.activeElement?.id, frame: document.querySelector('iframe')?.contentDocument.querySelector('input').value,
  values: [...document.querySelectorAll('input')].map((field) => field.id + ':' + field.value) })`

let site: Site
let homes: Homes
let session: string

beforeAll(async () => {
  const names = Object.keys(scripts)
  const page = (script: string) => `<!doctype html><title>Fields</title>${boxes}<script>${script}</script>`
  const pages = Object.fromEntries(
    // A page that logs its keys listens to all of them, and is never typed into at once.
    names.flatMap((name, at) => [
      [`/quiet${at}`, page(scripts[name]![1])],
      [`/logs${at}`, page(`${log};${scripts[name]![1]}`)],
    ]),
  )
  ;[site, homes] = await Promise.all([serveSite(pages), openHomes()])
  session = (await homes.clients.embedded.createSession({ headless: true })).session_id!
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await homes?.close()
  await site?.close()
})

async function typed(way: '0' | '1', path: string, text: string) {
  vi.stubEnv('BAX_DIRECT_ACTIONS', way)
  const commands = [
    { command: 'navigate_to', data: { url: site.url + path } },
    { command: 'type_text', data: { selector: '#a', text } },
    { command: 'evaluate', data: { expression: values } },
  ]
  const { results } = await homes.clients.embedded.runCommands({
    session_id: session,
    commands,
    continue_on_error: true,
  })
  const [, { success, code }, seen] = results as [unknown, (typeof results)[0], (typeof results)[0]]
  return { success, code, page: (seen.data?.['result'] as { value: unknown } | undefined)?.value }
}

const cases = Object.entries(scripts).map(([name, [reacts, script]], at) => ({ name, reacts, script, at }))

describe.each(['abcd', 'one, two & three: more than twenty letters'])('%j is typed as by Playwright', (text) => {
  test.each(cases.filter(({ script }) => !isTimed(script)))('$name', async ({ at }) => {
    for (const path of [`/quiet${at}`, `/logs${at}`])
      expect(await typed('1', path, text)).toEqual(await typed('0', path, text))
  })
})

test('lines are typed as by Playwright', async () => {
  expect(await typed('1', '/quiet0', 'a\nb')).toEqual(await typed('0', '/quiet0', 'a\nb'))
})

test('keys wait for a page where it may react', async () => {
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  const browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    for (const { name, reacts, at } of cases) {
      await page.goto(`${site.url}/quiet${at}`)
      await page.locator('#a').focus()
      expect(await reactionToKeys(page), name).toBe(reacts)
    }
    await page.setContent('<iframe srcdoc="<input>"></iframe>')
    await page.frameLocator('iframe').locator('input').focus()
    expect(await reactionToKeys(page), 'a field in a frame').toBe('always')
  } finally {
    await browser.close()
  }
})
