/** Component libraries, editors and applications: what a person does in them is recorded, and replayed three times. */
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { Person } from '../support/page-person.ts'
import { type RecordedPage, recordedPage } from '../support/recorded-pages.ts'
import { startRecording } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite } from '../support/site.ts'

let homes: Homes
let folder: ScriptFolder
beforeAll(async () => {
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
})
afterAll(async () => {
  await homes.close()
  await folder.close()
})

type Use = (person: Person, page: Page) => Promise<void>

const uses: Readonly<Record<RecordedPage, readonly [use: Use, state: string]>> = {
  admin: [
    async (person, page) => {
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      const option = (name: string) => page.getByRole('option', { name })
      await person.tap(page.getByRole('link', { name: 'Create' }))
      await person.tap(page.getByLabel('Title'))
      await person.type('Anna Karenina')
      await person.tap(page.getByLabel('Author'))
      await person.type('Leo')
      await person.choose(option('Leo Tolstoy'))
      await person.tap(page.getByLabel('Status'))
      await person.choose(option('In print'))
      await page.keyboard.press('Tab')
      await person.type('01011878')
      await person.tap(button('Save'))
      await page.getByText('1-4 of 4').waitFor()
      await person.tap(page.getByLabel('Search'))
      await person.type('frank')
      await page.getByText('1-1 of 1').waitFor()
      await person.tap(page.getByText('Frankenstein'))
      await person.tap(page.getByLabel('Status'))
      await person.choose(option('Sold out'))
      await person.tap(button('Save'))
      await page.getByText('Element updated').waitFor()
      await person.tap(page.getByLabel('Search'))
      await page.keyboard.press('Control+a')
      await page.keyboard.press('Delete')
      await page.getByText('1-4 of 4').waitFor()
      await person.tap(page.getByRole('row', { name: 'War and Peace' }).getByRole('checkbox'))
      await person.tap(button('Delete'))
      await person.tap(button('Undo'))
      await page.getByText('1-4 of 4').waitFor()
      await person.tap(page.getByText('Emma'))
      await person.tap(button('Delete'))
      await page.getByText('Element deleted').waitFor()
    },
    JSON.stringify([
      ['War and Peace', 2, 'sold', '1869-01-01'],
      ['Frankenstein', 3, 'sold', '1818-01-01'],
      ['Anna Karenina', 2, 'print', '1878-01-01'],
    ]),
  ],
  antd: [
    async (person, page) => {
      const option = (name: string) => page.locator('.ant-select-item-option').filter({ hasText: name, visible: true })
      await person.tap(page.getByLabel('Name'))
      await person.type('Ann')
      for (const name of ['Agree', 'Blue']) await person.tap(page.getByText(name))
      await person.tap(page.getByRole('switch'))
      await person.tap(page.locator('.ant-select').first())
      await person.choose(option('Live'))
      await person.tap(page.locator('.ant-select').nth(1))
      await person.choose(option('Alpha'), false)
      await person.choose(option('Gamma'), false)
    },
    '{"name":"Ann","agree":true,"wifi":true,"colour":"Blue","status":"Live","tags":["Alpha","Gamma"]}',
  ],
  calendar: [
    async (person, page) => {
      const day = (number: number) => page.locator(`[data-date="2026-03-${number}"]`)
      const answer = (text?: string) => page.once('dialog', (dialog) => void dialog.accept(text))
      answer('Trip')
      await person.drag(day(17), day(19))
      await person.drag(page.locator('.fc-event', { hasText: 'Standup' }), day(25))
      answer()
      await person.tap(page.locator('.fc-event', { hasText: 'Review' }))
      await page.getByText('Review').waitFor({ state: 'hidden' })
    },
    '[["Standup","2026-03-25",""],["Trip","2026-03-17","2026-03-20"]]',
  ],
  element: [
    async (person, page) => {
      const option = (name: string) => page.locator('.el-select-dropdown__item', { hasText: name })
      await person.tap(page.getByLabel('Name'))
      await person.type('Ann')
      for (const name of ['Agree', 'Blue']) await person.tap(page.getByText(name))
      await person.tap(page.locator('.el-switch__core'))
      await person.tap(page.locator('.el-select__wrapper').first())
      await person.choose(option('Live'))
      await person.tap(page.locator('.el-select__wrapper').nth(1))
      await person.choose(option('Alpha'), false)
      await person.choose(option('Beta'), false)
      await page.keyboard.press('Escape')
      await person.tap(page.getByLabel('City'))
      await person.type('Ro')
      await person.choose(page.getByRole('option', { name: 'Rome' }))
    },
    '{"name":"Ann","agree":true,"wifi":true,"colour":"blue","status":"l","tags":["a","b"],"city":"Rome"}',
  ],
  excalidraw: [
    async (person, page) => {
      const draw = async (tool: string, ...[x, y]: [number, number]) => {
        await person.tap(page.locator(`label:has(> input[aria-label="${tool}"])`))
        await page.mouse.move(x, y)
        await page.mouse.down()
        await page.mouse.move(x + 200, y + 100, { steps: 12 })
        await page.mouse.up()
      }
      await draw('Ellipse', 400, 300)
      await person.tap(page.getByRole('button', { name: '#e03131' }))
      await draw('Rectangle', 700, 300)
      await page.keyboard.press('t')
      await page.mouse.click(500, 200)
      await person.type('Hello board')
      await page.keyboard.press('Escape')
      await person.tap(page.getByRole('button', { name: 'Undo' }))
      await person.tap(page.getByRole('button', { name: 'Redo' }))
    },
    '[["ellipse",200,"#e03131"],["rectangle",200,"#e03131"],["text","Hello board","#e03131"]]',
  ],
  grapes: [
    async (person, page) => {
      const canvas = page.frameLocator('iframe.gjs-frame')
      await person.tap(page.getByTitle('Open Blocks'))
      await person.drag(page.locator('.gjs-block[title="Section"]'), page.locator('iframe.gjs-frame'))
      await canvas.getByText('Words').waitFor()
      await person.drag(page.locator('.gjs-block[title="Text"]'), canvas.getByText('Words'))
      await canvas.getByText('Insert your text').dblclick()
      await page.keyboard.press('ControlOrMeta+A')
      await person.type('Hello')
      await person.tap(canvas.getByText('Title'))
      await page.keyboard.press('Delete')
    },
    '"<body><section><div>Hello</div><p>Words</p></section></body>"',
  ],
  quill: [
    async (person, page) => {
      await person.tap(page.locator('.ql-editor'))
      await person.type('Hello world')
      await page.keyboard.press('Control+a')
      await person.tap(page.locator('button.ql-bold'))
      await page.keyboard.press('End')
      await page.keyboard.press('Enter')
      await person.type('second')
      await person.tap(page.locator('.ql-header .ql-picker-label'))
      await person.choose(page.locator('.ql-header .ql-picker-item').first())
      await person.type(' more')
    },
    '"<p><strong>Hello world</strong></p><h1>second more</h1>"',
  ],
}

describe('a recorded script', { timeout: 300_000 }, () => {
  test.each(Object.entries(uses))('repeats what a person does in %s', async (name, [use, state]) => {
    const html = await recordedPage(name as RecordedPage)
    const site = await serveSite({ '/': html })
    onTestFinished(() => site.close())
    const recording = await startRecording(homes, folder.path, [site.url, '--verify'], `${name}.yaml`)
    await use(new Person(recording.page), recording.page)
    const read = () => recording.page.evaluate('JSON.stringify(window.state ?? null)')
    await expect.poll(read).toBe(state)
    const { code, stderr } = await recording.end()
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    const check = `  - wait_for: {function: ${JSON.stringify(`() => JSON.stringify(window.state ?? null) === ${JSON.stringify(state)}`)}}\n`
    const script = `${await recording.script()}${check}`
    await folder.write(`${name}-checked.yaml`, script)
    for (const _ of [1, 2, 3]) {
      const run = await bax(['run', `${name}-checked.yaml`, '--strict'], {
        cwd: folder.path,
        env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir },
      })
      expect([run.code, run.code === 0 ? '' : run.stdout + script]).toEqual([0, ''])
    }
  })
})
