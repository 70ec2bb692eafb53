/** Applications that people use every day, driven by one-liners, by a script and by a recording. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { missingForPhp } from '../support/debian-php.ts'
import { openDrives } from '../support/driven.ts'
import { Person } from '../support/page-person.ts'
import { recordedPage } from '../support/recorded-pages.ts'
import { type Roundcube, startRoundcube } from '../support/roundcube.ts'
import { serveSite, type Site } from '../support/site.ts'

const reason = missingForPhp()

const drives = openDrives()
const { lines, runScript } = drives

describe.skipIf(reason)(`Roundcube${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let app: Roundcube
  beforeAll(async () => {
    app = await startRoundcube()
  })
  afterAll(() => app.close())
  beforeEach(async () => {
    await app.mail.empty()
    await writeFile(join(drives.folder(), 'minutes.txt'), 'We met.')
  })

  const variables = () => ({ PASSWORD: app.password })

  /** The message was sent, and its copy in Sent was deleted. */
  async function check(): Promise<void> {
    const [message] = app.mail.sent
    expect(message).toContain('Subject: Minutes of Monday')
    // Roundcube suggests the names of earlier recipients.
    expect(message).toMatch(/To: (?:Bob <)?bob@example\.com/)
    expect(message).toContain(Buffer.from('We met.').toString('base64'))
    expect(message).toMatch(/Dear Bob,\s+here they are/)
    expect(message).toContain('X-Priority: 2')
    const stored = async () => [await app.mail.messages('.Sent'), await app.mail.messages('.Trash')]
    // The page moves it after the click.
    await expect.poll(stored).toEqual([0, 1])
  }

  test('one-liners write a message with a file, and delete its copy', async () => {
    await lines(
      ['open', app.url],
      ['fill-form', JSON.stringify({ Username: app.user, Password: app.password })],
      ['click', 'role=button[name="Login"]'],
      ['click', 'role=button[name="Compose"]'],
      [
        'fill-form',
        JSON.stringify({
          To: 'bob@example.com',
          Subject: 'Minutes of Monday',
          'Message Body': 'Dear Bob,\nhere they are',
          Priority: 'High',
        }),
      ],
      ['upload-files', 'role=button[name="Attach a file"]', 'minutes.txt'],
      ['click', 'role=button[name="Send"]'],
      ['click', 'role=link[name="Sent"]'],
      ['click', 'role=link[name="Minutes of Monday"]'],
      ['wait', 'frame=#messagecontframe >> text=here they are'],
      ['click', 'role=button[name="Delete"]'],
      ['wait', 'text=Mailbox is empty'],
    )
    await check()
  })

  test('a script writes a message with a file, and deletes its copy', async () => {
    await runScript(
      `steps:
  - navigate_to: ${app.url}
  - fill_form: { fields: { Username: ${app.user}, Password: "\${env.PASSWORD}" } }
  - click: role=button[name="Login"]
  - click: role=button[name="Compose"]
  - fill_form:
      fields:
        To: bob@example.com
        Subject: Minutes of Monday
        Message Body: "Dear Bob,\\nhere they are"
        Priority: High
  - upload_files: { selector: 'role=button[name="Attach a file"]', files: [minutes.txt] }
  - click: role=button[name="Send"]
  - click: role=link[name="Sent"]
  - click: role=link[name="Minutes of Monday"]
  - wait_for: { selector: "frame=#messagecontframe >> text=here they are" }
  - click: role=button[name="Delete"]
  - wait_for: { text: Mailbox is empty }
`,
      variables(),
    )
    await check()
  })

  test('a recording repeats what a person does, three times', { timeout: 300_000 }, async () => {
    const recording = await drives.record(app.url)
    await writeAndDelete(new Person(recording.page), app, drives.folder())
    await check()
    const { code, stderr } = await recording.end()
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    const script = await recording.script()
    expect(script).not.toContain(app.password)
    for (const _ of [1, 2, 3]) {
      await app.mail.empty()
      // A script ends with its last step, which is a click here.
      await runScript(`${script}  - wait_for: { text: Mailbox is empty }\n`, variables())
      await check()
    }
  })
})

describe('react-admin', () => {
  let site: Site
  beforeAll(async () => {
    site = await serveSite({ '/': await recordedPage('admin') })
  }, 300_000)
  afterAll(() => site.close())

  const anna = { Title: 'Anna Karenina', Author: 'Leo Tolstoy', Status: 'In print', Published: '1878-01-01' }
  const changes = { Author: 'Jane Austen', Status: 'Sold out', Published: '1820-02-03' }
  /** Whether the application has stored all changes, which it does when they can no longer be undone. */
  const isStored = `JSON.stringify(state) === '${JSON.stringify([
    ['War and Peace', 2, 'sold', '1869-01-01'],
    ['Frankenstein', 1, 'sold', '1820-02-03'],
    ['Anna Karenina', 2, 'print', '1878-01-01'],
  ])}'`

  test('one-liners create, find, change and delete records', async () => {
    await lines(
      ['open', site.url],
      ['click', 'role=link[name="Create"]'],
      ['fill-form', JSON.stringify(anna)],
      ['click', 'role=button[name="Save"]'],
      ['fill', 'role=textbox[name="Search"]', 'frank'],
      ['wait', '--text', '1-1 of 1'],
      ['click', 'text=Frankenstein'],
      ['fill-form', JSON.stringify(changes)],
      ['click', 'role=button[name="Save"]'],
      ['clear', 'role=textbox[name="Search"]'],
      ['wait', '--text', '1-4 of 4'],
      ['check', 'role=row[name*="War and Peace"] >> role=checkbox'],
      ['click', 'role=button[name="Delete"]'],
      ['click', 'role=button[name="Undo"]'],
      ['wait', '--text', '1-4 of 4'],
      ['click', 'text=Emma'],
      ['click', 'role=button[name="Delete"]'],
      ['wait', '--function', isStored],
    )
  })

  test('a script creates, finds, changes and deletes records', async () => {
    await runScript(
      `steps:
  - navigate_to: ${site.url}
  - click: role=link[name="Create"]
  - fill_form: { fields: ${JSON.stringify(anna)} }
  - click: role=button[name="Save"]
  - fill: { selector: 'role=textbox[name="Search"]', text: frank }
  - wait_for: { text: 1-1 of 1 }
  - click: text=Frankenstein
  - fill_form: { fields: ${JSON.stringify(changes)} }
  - click: role=button[name="Save"]
  - clear: role=textbox[name="Search"]
  - wait_for: { text: 1-4 of 4 }
  - check: role=row[name*="War and Peace"] >> role=checkbox
  - click: role=button[name="Delete"]
  - click: role=button[name="Undo"]
  - wait_for: { text: 1-4 of 4 }
  - click: text=Emma
  - click: role=button[name="Delete"]
  - wait_for: { function: ${JSON.stringify(isStored)} }
`,
    )
  })
})

/** Logs in to Roundcube, sends a message with a file and deletes its copy, as a person does. */
async function writeAndDelete(person: Person, app: Roundcube, files: string): Promise<void> {
  const { page } = person
  const control = (role: 'button' | 'link', name: string) => page.getByRole(role, { name }).first()
  await person.tap(page.getByLabel('Username'))
  await person.type(app.user)
  await page.keyboard.press('Tab')
  await person.type(app.password)
  await page.keyboard.press('Enter')
  await page.getByText('No messages found').waitFor()
  await person.tap(control('button', 'Compose'))
  await person.tap(page.locator('.recipient-input input').first())
  await person.type('bob@example.com')
  // At Tab, Roundcube inserts an outdated suggestion, which can arrive late: "boBob @example.com".
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await person.tap(page.getByLabel('Subject'))
  await person.type('Minutes of Monday')
  await person.tap(page.getByLabel('Message Body'))
  await person.type('Dear Bob,\nhere they are')
  await page.getByLabel('Priority').selectOption('High')
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    person.tap(control('button', 'Attach a file')),
  ])
  await chooser.setFiles(join(files, 'minutes.txt'))
  // Roundcube ignores clicks while it loads a file.
  await page.locator('#attachment-list li:not(.uploading)').getByText('minutes.txt').waitFor()
  await person.tap(control('button', 'Send'))
  await page.getByText('No messages found').waitFor()
  await person.tap(control('link', 'Sent'))
  await person.tap(control('link', 'Minutes of Monday'))
  // Roundcube ignores other clicks while it loads the message.
  await person.tap(page.frameLocator('#messagecontframe').getByText('here they are'))
  await person.tap(control('button', 'Delete'))
  await page.getByText('Mailbox is empty').waitFor()
}
