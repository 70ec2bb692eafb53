/** Drives a session by command lines, as an agent over MCP, as a person in the live view, or by each in turn. */
import { basename } from 'node:path'
import type { Page } from 'playwright'
import { expect, onTestFinished } from 'vitest'
import { connectMcp } from './mcp.ts'
import { type PersonInControl, takeControl } from './person.ts'
import { connectToSession } from './recorder.ts'
import type { SessionScripts } from './session-scripts.ts'
import { waitFor, waitUntil } from './wait.ts'

/** Elements are named by role and name, such as `button "Save"`, or by a CSS selector. */
export interface Driver {
  open(url: string): Promise<void>
  fill(element: string, text: string): Promise<void>
  click(element: string): Promise<void>
  /** Selects an option of a list by its label. */
  choose(element: string, label: string): Promise<void>
  check(element: string, on?: boolean): Promise<void>
  press(element: string, key: string): Promise<void>
  /** Does what opens a dialog, and accepts the dialog. */
  accept(action: () => Promise<void>): Promise<void>
  /** Selects a file of the folder of the test. */
  upload(element: string, file: string): Promise<void>
  /** Waits for a text of the page. */
  see(text: string): Promise<void>
  /** Reads the text of an element, by a CSS selector. */
  read(selector: string): Promise<void>
}

export type DriverName = 'cli' | 'mcp' | 'live view' | 'mixed'

interface Drive {
  readonly given: SessionScripts
  readonly session: string
}

/** Length of an observation that leaves out nothing, in characters. */
const wholePage = 100_000

const named = /^(?<role>[a-z]+) "(?<name>.*)"$/

export async function driverOf(name: DriverName, given: SessionScripts): Promise<Driver & { session: string }> {
  const session = await given.createSession()
  const drive = { given, session }
  if (name === 'cli') return { session, ...byLines(drive) }
  if (name === 'mcp') return { session, ...(await byAgent(drive)) }
  if (name === 'live view') return { session, ...(await byPerson(drive)) }
  const [lines, agent, person] = [byLines(drive), await byAgent(drive), await byPerson(drive)]
  return { session, ...inTurn(lines, [lines, agent, person]) }
}

/** Each input is done by the next driver, an upload by a command line. */
function inTurn(lines: Driver, drivers: readonly Driver[]): Driver {
  let number = 0
  const next = () => drivers[number++ % drivers.length]!
  return {
    open: (url) => next().open(url),
    fill: (...input) => next().fill(...input),
    click: (...input) => next().click(...input),
    choose: (...input) => next().choose(...input),
    check: (...input) => next().check(...input),
    press: (...input) => next().press(...input),
    async accept(action) {
      number = 0
      await lines.accept(action)
    },
    upload: (...input) => lines.upload(...input),
    see: (text) => lines.see(text),
    read: (selector) => lines.read(selector),
  }
}

function byCommands(
  act: (...words: string[]) => Promise<void>,
  observe: () => Promise<string>,
): Omit<Driver, 'see' | 'open'> {
  /** Returns the reference of an element that is named by role and name. */
  async function find(element: string): Promise<string> {
    if (!named.test(element)) return element
    const line = await waitFor(element, async () =>
      (await observe()).split('\n').find((each) => each.includes(element)),
    )
    return `@${/\b(?:f\d+)?e\d+\b/.exec(line.replace(element, ''))![0]}`
  }
  return {
    fill: async (element, text) => act('fill', await find(element), text),
    click: async (element) => act('click', await find(element)),
    choose: async (element, label) => act('select-option', await find(element), label),
    check: async (element, on = true) => act(on ? 'check' : 'uncheck', await find(element)),
    press: async (element, key) => act('press-key', key, '--selector', await find(element)),
    async accept(action) {
      await act('answer-dialog', 'true')
      await action()
    },
    upload: async (element, file) => act('upload-files', await find(element), file),
    read: (selector) => act('get-text', selector),
  }
}

function byLines({ given, session }: Drive): Driver {
  const act = async (...words: string[]) => void (await given.line(session, ...words))
  return {
    ...byCommands(act, async () => (await given.line(session, 'observe', '--max-chars', String(wholePage))).stdout),
    open: (url) => act('open', url),
    see: (text) => act('wait', `text=${text}`),
  }
}

async function byAgent({ given, session }: Drive): Promise<Driver> {
  const mcp = await connectMcp([], { cwd: given.folder.path, env: given.env() }, [])
  onTestFinished(async () => void (await mcp.close()))
  const call = async (name: string, input: Record<string, unknown>) => {
    const { isError, text } = await mcp.call(name, { session, ...input })
    expect([isError ?? false, text]).toEqual([false, text])
    return text
  }
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`
  const act = async (...words: string[]) =>
    void (await call('browser_act', { commands: [words.map(quoted).join(' ')] }))
  return {
    ...byCommands(act, () => call('browser_observe', { max_chars: wholePage })),
    open: async (url) => void (await call('browser_open', { url })),
    see: async (text) => void (await call('browser_wait', { text })),
  }
}

/** Modifier of a key. */
const ctrl = 2

async function byPerson({ given, session }: Drive): Promise<Driver> {
  const { browser, page } = await connectToSession(given.homes, session)
  onTestFinished(() => browser.close())
  // Without a listener, this client would dismiss the dialogs of the session.
  page.on('dialog', () => {})
  page.setDefaultTimeout(120_000)
  /** Does something in control of the session, which is returned afterwards, so that others may act. */
  const control = async (use: (person: PersonInControl) => Promise<void>) => {
    const person = await takeControl(given.homes, session)
    await use(person)
    await person.giveBack()
  }
  const clickOn = async (person: PersonInControl, element: string) => person.click(await pointOf(page, element, person))
  const accepting: { value: boolean } = { value: false }
  return {
    open: (url) =>
      control(async (person) => {
        person.send({ type: 'navigate', url })
        await page.waitForURL(url)
      }),
    fill: (element, text) =>
      control(async (person) => {
        await clickOn(person, element)
        const field = locate(page, element)
        if (await field.inputValue()) {
          for (const action of ['down', 'up'] as const)
            person.send({ type: 'key', action, key: 'a', code: 'KeyA', key_code: 65, modifiers: ctrl })
          person.press('Backspace')
        }
        person.press(...Array.from(text, (each) => (each === '\n' ? 'Enter' : each)))
        await waitUntil(async () => (await field.inputValue()) === text)
      }),
    click: (element) =>
      control(async (person) => {
        await clickOn(person, element)
        if (!accepting.value) return
        await person.received('"type":"dialog","dialog":{')
        person.send({ type: 'dialog', accept: true })
        await person.received('"type":"dialog","dialog":null')
      }),
    choose: (element, label) =>
      control(async (person) => {
        const list = locate(page, element)
        const moves = await list.evaluate((select: HTMLSelectElement, wanted) => {
          const at = [...select.options].findIndex(({ label: each }) => each.trim() === wanted)
          return at - select.selectedIndex
        }, label)
        await clickOn(person, element)
        person.press(...Array.from({ length: Math.abs(moves) }, () => (moves > 0 ? 'ArrowDown' : 'ArrowUp')), 'Enter')
        await waitUntil(
          async () =>
            (await list.evaluate((select: HTMLSelectElement) => select.selectedOptions[0]?.label.trim())) === label,
        )
      }),
    check: (element, on = true) =>
      control(async (person) => {
        const isDone = async () => (await locate(page, element).isChecked()) === on
        if (await isDone()) return
        await clickOn(person, element)
        await waitUntil(isDone)
      }),
    // The element has the focus: the person has typed into it.
    press: (_element, key) => control(async (person) => person.press(key)),
    async accept(action) {
      accepting.value = true
      await action()
      accepting.value = false
    },
    upload: (element, file) => Promise.reject(new Error(`a live view selects no files: ${element} ${basename(file)}`)),
    // A person sees a text, and reads it: nothing of that is in the script.
    see: (text) => page.getByText(text).first().waitFor(),
    read: (selector) => page.locator(selector).first().waitFor(),
  }
}

function locate(page: Page, element: string) {
  const { role, name } = named.exec(element)?.groups ?? {}
  const found = role ? page.getByRole(role as 'button', { name: name!, exact: true }) : page.locator(element)
  return found.locator('visible=true').first()
}

/** Returns the middle of an element in the viewport, to which the person scrolls. */
async function pointOf(page: Page, element: string, person: PersonInControl): Promise<{ x: number; y: number }> {
  const found = locate(page, element)
  await found.waitFor()
  const middle = async () => {
    const { x, y, width, height } = (await found.boundingBox())!
    return { x: x + width / 2, y: y + height / 2 }
  }
  const size = await page.evaluate(() => ({ width: innerWidth, height: innerHeight }))
  await waitUntil(async () => {
    const { y } = await middle()
    if (y > 0 && y < size.height) return true
    const at = { x: size.width / 2, y: size.height / 2 }
    person.send({ type: 'mouse', action: 'wheel', ...at, delta_y: y - size.height / 2 })
    return false
  })
  // The scrolling may be smooth.
  let last = await middle()
  await waitUntil(async () => {
    const before = last
    last = await middle()
    return last.y === before.y
  })
  return last
}
