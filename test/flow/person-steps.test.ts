/** Scripts of sessions contain the input of a person in the live view. */
import { describe, expect, test } from 'vitest'
import { takeControl } from '../support/person.ts'
import { runPlaywrightTest } from '../support/playwright-test.ts'
import { command } from '../support/session-steps.ts'
import { sessionScripts } from '../support/session-scripts.ts'

const given = sessionScripts()
const { cli, createSession, exported, logins, replayThrice } = given

/** Returns a point in a row of the page `/rows`. */
const row = (number: number) => ({ x: 30, y: number * 40 + 20 })

/** Steps that prove what the page `/rows` has received. */
const end = `  - switch_tab: tab_1
  - verify: { text: Twice2 }
  - verify: { text: Right3 }
  - verify: { text: London }
  - verify: { text: Has it }
  - verify: { selector: role=combobox, value: M }
  - verify: { title: Grace }
`

/** Opens a page in a new session, and takes control of it. */
async function inControl(path: string) {
  const session_id = await createSession()
  const commands = [command('navigate_to', { url: given.site.url + path })]
  await given.homes.clients.http.runCommands({ session_id, commands })
  return { session_id, person: await takeControl(given.homes, session_id) }
}

describe('a script of what a person did', () => {
  test('logs in with a password that it does not contain, and continues with commands', async () => {
    const before = logins.length
    const { person, session_id } = await inControl('/rows-login')
    person.click(row(0))
    person.press('a', 'n', 'm', 'Backspace', 'n', 'Tab')
    person.send({ type: 'text', text: 'geheim!' })
    person.click(row(2))
    person.press('Tab', 'Enter')
    await person.received('/account')
    await person.giveBack()
    const commands = [command('wait_for', { text: 'Hello Ann' }), command('get_text', { selector: 'h1' })]
    await given.homes.clients.http.runCommands({ session_id, commands })
    const { script, stderr } = await exported(session_id)
    expect(script).toContain('text: ann\n')
    expect(script).toContain('${env.PASSWORD}')
    expect(script).not.toContain('geheim')
    expect(stderr).not.toContain('a person had control')
    await replayThrice('flow.yaml', { PASSWORD: 'geheim!' })
    await exported(session_id, 'flow.spec.ts', ['--format', 'playwright'])
    await runPlaywrightTest(given.folder.path, 'flow.spec.ts', { PASSWORD: 'geheim!' })
    expect(logins.slice(before)).toEqual(Array.from({ length: 5 }, () => 'user=ann&word=geheim%21&stay=on'))
  })

  test('clicks, chooses, drags, answers and types what they did', async () => {
    const { person, session_id } = await inControl('/rows')
    person.click(row(0), { clicks: 1 })
    person.click(row(0), { clicks: 2 })
    person.click(row(1), { button: 'right' })
    person.click(row(2))
    person.press('ArrowDown', 'Enter')
    person.click(row(3), {}, { x: 190, y: row(3).y })
    person.click(row(4))
    person.press('L', 'o', 'ArrowDown', 'Enter')
    person.click(row(6), {}, row(7))
    person.click(row(8))
    await person.received('"type":"dialog","dialog":{')
    person.send({ type: 'dialog', accept: true, text: 'Grace' })
    await person.received('"type":"dialog","dialog":null')
    person.click(row(9))
    await person.received('/terms')
    await person.giveBack()
    const { script } = await exported(session_id)
    expect(script.match(/^ {2}- \w+/gm)!.map((line) => line.slice(4))).toEqual([
      'navigate_to',
      'double_click',
      'click_advanced',
      'select_option',
      'fill',
      'fill',
      'press_key',
      'press_key',
      'drag_to',
      'answer_dialog',
      'click',
      'click',
    ])
    expect(script).toMatch(/text: Lo\n/)
    await given.folder.write('flow.yaml', `${script}${end}`)
    await replayThrice('flow.yaml')
  })

  test('sets checkboxes, radio buttons and switches to the state that they gave to them', async () => {
    const { person, session_id } = await inControl('/toggles')
    for (const number of [0, 1, 2, 3, 4]) person.click(row(number))
    person.press('Tab', ' ')
    person.click({ x: 35, y: row(6).y - 12 })
    await person.giveBack()
    const { script } = await exported(session_id)
    const steps = [...script.matchAll(/^ {2}- (\w+): (.*)$/gm)].slice(1).map(([, command, target]) => [command, target])
    expect(steps).toEqual([
      ['check', expect.stringContaining('News')],
      ['uncheck', expect.stringContaining('Terms')],
      ['check', expect.stringContaining('Dark')],
      ['check', expect.stringContaining('Small')],
      ['click', expect.stringContaining('Stubborn')],
      ['press_key', 'Tab'],
      ['check', expect.stringContaining('Keyed')],
      ['click', expect.stringContaining('Read')],
    ])
    const states = ['News', 'Small', 'Keyed'].map(
      (name) => `  - verify: { selector: label="${name}", state: checked }\n`,
    )
    await given.folder.write('flow.yaml', `${script}${states.join('')}  - verify: { title: 4 }\n`)
    await replayThrice('flow.yaml')
  })

  test('opens the pages that they opened', async () => {
    const { person, session_id } = await inControl('/help')
    person.send({ type: 'navigate', url: 'http://127.0.0.1:1/' })
    await person.received('"type":"error"')
    person.send({ type: 'navigate', url: `${given.site.url}/terms` })
    await person.received('/terms')
    person.send({ type: 'history', go: 'reload' })
    await person.giveBack()
    const { script } = await exported(session_id)
    expect(script).toContain(`- navigate_to: ${given.site.url}/terms\n  - refresh\n`)
    await replayThrice('flow.yaml')
  })

  test.each([
    ['a closed shadow tree', 0],
    ['a code editor', 1],
    ['a field that the page empties', 2],
  ])('says that it lacks a text that they typed into %s', async (_, number) => {
    const { person, session_id } = await inControl('/unreadable')
    person.click(row(number))
    person.press('s', 'a', 'f', 'e')
    await person.giveBack()
    const { script } = await exported(session_id)
    expect(script).toMatch(/# a person had control here/)
    expect(script).not.toMatch(/press_key|safe/)
  })

  test('says where a person did what no step repeats', async () => {
    const { person, session_id } = await inControl('/help')
    person.click({ x: 300, y: 300 })
    await person.giveBack()
    const { script } = await exported(session_id)
    expect(script).toContain('# a person had control here: the script does not repeat all that they did')
    expect((await cli(['run', 'flow.yaml', '--strict'])).code).toBe(0)
  })
})
