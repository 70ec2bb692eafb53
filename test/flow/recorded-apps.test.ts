/** Typical applications that a person uses while recording; their scripts pass as they were written. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type Recorded, startRecording } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

const apps = join(import.meta.dirname, '../fixtures/apps')

let homes: Homes
let site: Site
let folder: ScriptFolder
/** Bodies that each application posted to /done, by its name. */
const sentBy = new Map<string, unknown[]>()

function onDone(request: IncomingMessage, response: ServerResponse): void {
  let body = ''
  request.on('data', (part: Buffer) => (body += part.toString()))
  request.on('end', () => {
    sentBy.get(new URL(request.headers.referer!).pathname.slice(1))!.push(JSON.parse(body))
    response.end()
  })
}

beforeAll(async () => {
  const names = ['shop', 'wizard', 'board']
  const pages = await Promise.all(
    names.map(async (name) => [`/${name}`, await readFile(join(apps, `${name}.html`), 'utf8')]),
  )
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
  site = await serveSite({
    ...Object.fromEntries(pages),
    '/terms': '<!doctype html><title>Terms</title><h1>Terms</h1><button onclick="document.title = 1">Accept</button>',
    '/payment': `<!doctype html><title>Payment</title><label>Card <input autocomplete=cc-number></label><label>Bank <select><option>A<option>B</select></label>
      <button onclick="setTimeout(() => parent.postMessage({type: 'paid', by: document.querySelector('select').value + document.querySelector('input').value.length}, '*'), 300)">Pay</button>`,
    '/done': onDone,
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await folder.close()
})

/** Records what `use` does in an application, runs the script, and returns what both have sent. */
async function recordAndRun(
  name: string,
  use: (page: Page, recording: Recorded) => Promise<void>,
  env: Record<string, string> = {},
): Promise<{ script: string; recorded: unknown; repeated: unknown; stderr: string }> {
  const sent: unknown[] = []
  sentBy.set(name, sent)
  const recording = await startRecording(homes, folder.path, [`${site.url}/${name}`], `${name}.yaml`)
  await use(recording.page, recording)
  await expect.poll(() => sent.length).toBe(1)
  const ended = await recording.end()
  expect(ended.code).toBe(0)
  const script = await recording.script()
  const run = await bax(['run', `${name}.yaml`], {
    cwd: folder.path,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir, ...env },
  })
  expect([run.code, run.code === 0 ? '' : `${run.stdout}${run.stderr}\n${script}`]).toEqual([0, ''])
  await expect.poll(() => sent.length).toBe(2)
  return { script, recorded: sent[0], repeated: sent[1], stderr: ended.stderr }
}

/** Drags with the mouse, as a person does: in several moves. */
async function drag(page: Page, from: Locator, to: Locator, at?: { x: number; y: number }): Promise<void> {
  const [start, end] = [(await from.boundingBox())!, (await to.boundingBox())!]
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2)
  await page.mouse.down()
  const target = at ? { x: end.x + at.x, y: end.y + at.y } : { x: end.x + end.width / 2, y: end.y + end.height / 2 }
  await page.mouse.move(target.x, target.y, { steps: 12 })
  await page.mouse.up()
}

describe('a recorded script', () => {
  test('buys in a shop with routes, a slider, dialogs and a modal form', async () => {
    const { script, recorded, repeated } = await recordAndRun('shop', async (page) => {
      const products = page.getByRole('listitem')
      await page.getByRole('searchbox').click()
      await page.keyboard.type('e')
      await drag(page, page.locator('.thumb'), page.locator('.slider'), { x: 142, y: 10 })
      await products.filter({ hasText: 'Earl Grey' }).getByRole('button').click()
      await page.getByRole('heading', { name: 'Cart' }).waitFor()
      await page.getByRole('link', { name: 'Products' }).click()
      await products.filter({ hasText: 'Assam' }).getByRole('button').click()
      await page.getByLabel('Number of Assam').fill('3')
      await page.keyboard.press('Tab')
      page.once('dialog', (dialog) => void dialog.dismiss())
      await page.getByRole('row', { name: 'Assam' }).getByRole('button').click()
      page.once('dialog', (dialog) => void dialog.accept())
      await page.getByRole('row', { name: 'Earl Grey' }).getByRole('button').click()
      page.once('dialog', (dialog) => void dialog.accept('SPRING'))
      await page.getByRole('button', { name: 'Coupon' }).click()
      await page.getByRole('button', { name: 'Checkout' }).click()
      await page.keyboard.type('Ann')
      await page.getByLabel('Country').selectOption('ch')
      await page.getByLabel('Gift').check()
      await page.getByText('Fast').click()
      await page.getByRole('button', { name: 'Order' }).click()
      await page.getByText('Thank you').waitFor()
    })
    expect(recorded).toEqual({
      name: 'Ann',
      country: 'ch',
      gift: 'on',
      speed: 'fast',
      coupon: 'SPRING',
      budget: 50,
      cart: [['Assam', 3]],
    })
    expect(repeated).toEqual(recorded)
    const answers = [...script.matchAll(/- answer_dialog:\n(?: {6}.*\n)+/g)].map(([step]) =>
      step.replaceAll(/\s+/g, ' '),
    )
    expect(answers).toEqual([
      '- answer_dialog: accept: false ',
      '- answer_dialog: accept: true ',
      '- answer_dialog: accept: true text: SPRING ',
    ])
  })

  test('fills a wizard with files, a second tab and a frame', async () => {
    await writeFile(join(folder.path, 'passport.txt'), 'AT 123')
    await writeFile(join(folder.path, 'letter.txt'), 'Dear all')
    const choose = async (page: Page, click: Promise<void>, file: string) => {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), click])
      await chooser.setFiles(join(folder.path, file))
      await page.getByRole('listitem').filter({ hasText: file }).waitFor()
    }
    const use = async (page: Page, { contains, keys }: Recorded) => {
      await page.getByLabel('Full name').click()
      await page.keyboard.type('Ann Doe')
      await page.keyboard.press('Tab')
      await page.keyboard.type('01312000')
      await page.getByLabel('About you').fill('Two\nlines')
      const [terms] = await Promise.all([page.waitForEvent('popup'), page.getByRole('link', { name: 'Terms' }).click()])
      await terms.getByRole('button').click()
      await terms.close()
      await page.getByText('I agree').click()
      await page.getByRole('button', { name: 'Continue' }).click()
      await choose(page, page.getByLabel('Passport').click(), 'passport.txt')
      await choose(page, page.getByText('Attach letter').click(), 'letter.txt')
      await page.getByRole('button', { name: 'Continue' }).click()
      const frame = page.frameLocator('iframe')
      await frame.getByLabel('Card').pressSequentially('4242')
      await frame.getByLabel('Bank').selectOption('B')
      await frame.getByRole('button').click()
      await page.getByText('Sent').waitFor()
      // The script would end before the payment arrives.
      keys('t')
      await contains('title: Sent')
    }
    const { script, recorded, repeated } = await recordAndRun('wizard', use, { PASSWORD: '9999' })
    expect(recorded).toEqual({
      name: 'Ann Doe',
      born: '2000-01-31',
      about: 'Two\nlines',
      agree: 'on',
      passport: ['passport.txt', 'AT 123'],
      letter: ['letter.txt', 'Dear all'],
      paid: 'B4',
    })
    expect(repeated).toEqual(recorded)
    expect(script).not.toContain('4242')
    expect(script.match(/upload_files/g)).toHaveLength(2)
    expect(script).not.toContain('click: role=button[name="Attach letter"]')
  })

  test('edits a table in place, drags cards and rows, draws, and uses keys', async () => {
    const { script, recorded, repeated, stderr } = await recordAndRun('board', async (page) => {
      await page.getByRole('cell', { name: 'Ann' }).dblclick()
      await page.keyboard.type('Anna')
      await page.keyboard.press('Enter')
      await page.getByRole('cell', { name: '2025-06-01' }).dblclick()
      await page.keyboard.type('12242025')
      await page.keyboard.press('Enter')
      await page.getByText('new').click()
      await page.keyboard.press('Control+a')
      await page.keyboard.type('in office')
      await drag(page, page.getByText('Write tests'), page.getByTestId('done'))
      await drag(page, page.getByText('Fix bugs'), page.getByText('Write tests'), { x: 20, y: 5 })
      await drag(page, page.getByText('Alpha'), page.getByText('Gamma'))
      await drag(page, page.locator('canvas'), page.locator('canvas'), { x: 30, y: 80 })
      await page.getByLabel('Message').click()
      await page.keyboard.type('hello')
      await page.keyboard.press('Shift+Enter')
      await page.keyboard.type('you')
      await page.keyboard.press('Enter')
      await page.keyboard.type('bye')
      await page.keyboard.press('Enter')
      await page.locator('#log').click()
      await page.keyboard.press('Delete')
      await page.getByRole('button', { name: 'Save' }).click()
    })
    expect(recorded).toEqual({
      rows: [
        ['Anna', '2024-01-31', 'in office'],
        ['Bob', '2025-12-24', 'old'],
      ],
      columns: [[], ['Fix bugs', 'Write tests']],
      order: ['Beta', 'Gamma', 'Alpha', 'Delta'],
      strokes: [
        [100, 50],
        [30, 80],
      ],
      messages: ['hello\nyou', 'bye', 'deleted'],
    })
    expect(repeated).toEqual(recorded)
    expect(script.match(/drag_to/g)).toHaveLength(4)
    expect(stderr).not.toContain('not recorded')
  })
  test('names what it does not contain', async () => {
    const recording = await startRecording(homes, folder.path, [`${site.url}/board`], 'missing.yaml')
    const { page, contains } = recording
    page.on('dialog', (dialog) => void dialog.accept())
    await page.evaluate(() => {
      document.body.insertAdjacentHTML(
        'afterbegin',
        '<input type=file><input type=file id=album webkitdirectory><button id=two>Twice</button>',
      )
      document.querySelector('#two')!.addEventListener('click', () => [confirm('First?'), confirm('Second?')])
    })
    await page
      .locator('[type=file]:not(#album)')
      .setInputFiles({ name: 'far.txt', mimeType: 'text/plain', buffer: Buffer.from('x') })
    await contains('far.txt')
    await mkdir(join(folder.path, 'album/2026'), { recursive: true })
    for (const name of ['a.txt', '2026/b.txt']) await writeFile(join(folder.path, 'album', name), 'x')
    await page.locator('#album').setInputFiles(join(folder.path, 'album'))
    await contains('[ album')
    await page.getByText('Twice').click()
    const script = await contains('# the answer to a second dialog was not recorded: confirm "Second?"')
    expect(script.match(/answer_dialog/g)).toHaveLength(1)
    // The folder is uploaded as a whole.
    expect(script).toContain('files: [ album ]')
    const { stderr } = await recording.end()
    expect(stderr).toContain('warning: the answer to a second dialog was not recorded')
    expect(stderr).toContain('warning: the script uploads far.txt, which is not in this folder: complete its path\n')
  })
})
