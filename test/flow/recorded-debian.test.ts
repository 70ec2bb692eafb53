/** Applications from Debian's packages: what a person does in them is recorded, and repeated as it was written. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Adminer, startAdminer } from '../support/adminer.ts'
import { teas } from '../support/application-jobs.ts'
import { missingForPhp } from '../support/debian-php.ts'
import { startWiki, type Wiki } from '../support/dokuwiki.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type PhpLiteAdmin, startPhpLiteAdmin } from '../support/phpliteadmin.ts'
import { type Recorded, startRecording } from '../support/recorder.ts'
import { type Served, servedWithinMs, serveBax } from '../support/served.ts'
import { sqlite } from '../support/stored.ts'

const reason = missingForPhp()

describe.skipIf(reason)(`a recorded script${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let homes: Homes
  let served: Served
  let folder: string
  beforeAll(async () => {
    ;[homes, served] = await Promise.all([openHomes(), serveBax()])
  }, servedWithinMs)
  afterAll(() => Promise.all([homes?.close(), served?.close()]))
  // Applications start with the test, so that a retry finds nothing of the first try.
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-recorded-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function started<T extends Adminer | Wiki | PhpLiteAdmin>(application: Promise<T>): Promise<T> {
    const running = await application
    onTestFinished(() => running.close())
    return running
  }

  async function record(url: string, file: string, use: (page: Page, recording: Recorded) => Promise<void>) {
    const recording = await startRecording(homes, folder, [url], file)
    await use(recording.page, recording)
    expect(await recording.end()).toMatchObject({ code: 0 })
    return recording.script()
  }

  /** Runs the script with a local engine, then with the server. */
  async function repeat(file: string, password: string, check: () => Promise<void>) {
    const places = [
      { BAX_STATE_DIR: await served.built.stateDir() },
      { BAX_STATE_DIR: join(folder, 'client'), BAX_SERVER: served.url, BAX_API_KEY: served.key },
    ]
    for (const env of places) {
      const { code, stdout, stderr } = await served.built.run(['run', file], {
        cwd: folder,
        env: { ...env, PASSWORD: password },
      })
      const script = code === 0 ? '' : await readFile(join(folder, file), 'utf8')
      expect([code, code === 0 ? '' : stdout + stderr + script]).toEqual([0, ''])
      expect(stdout + stderr).not.toContain(password)
      await check()
    }
  }

  test('logs in to DokuWiki, edits a page, uploads and downloads a file, and deletes both', async () => {
    const wiki = await started(startWiki())
    // An archive with a comment; the wiki sends archives as downloads.
    const archive = Buffer.concat([Buffer.from('PK\u0005\u0006'), Buffer.alloc(16), Buffer.from([1, 0, 97])])
    await writeFile(join(folder, 'notes.zip'), archive)
    const script = await record(`${wiki.url}/doku.php?id=notes`, 'wiki.yaml', async (page, { contains }) => {
      await page.getByRole('link', { name: 'Log In' }).click()
      await page.getByLabel('Username').click()
      await page.keyboard.type(wiki.user)
      await page.keyboard.press('Tab')
      await page.keyboard.type(wiki.password)
      await page.keyboard.press('Enter')
      await page.getByText('Logged in as').waitFor()
      await page.getByRole('link', { name: 'Create this page' }).first().click()
      await page.locator('#wiki__text').click()
      await page.keyboard.insertText('====== Notes ======\nAll **notes**: {{:notes.zip}}')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('heading', { name: 'Notes' }).waitFor()
      expect(await wiki.page('notes')).toContain('All **notes**')

      await page.goto(`${wiki.url}/doku.php?id=notes&do=media&tab_files=upload&ns=`)
      await contains('tab_files=upload')
      const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        page.locator('.qq-upload-button').click({ position: { x: 20, y: 10 } }),
      ])
      await chooser.setFiles(join(folder, 'notes.zip'))
      await page.getByRole('button', { name: 'Upload', exact: true }).click()
      await page.locator('.qq-upload-success').waitFor()
      expect(await wiki.media('notes.zip')).toEqual(archive)

      await page.goto(`${wiki.url}/doku.php?id=notes`)
      await contains('id=notes\n')
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'notes.zip' }).click(),
      ])
      await download.path()
      await contains('downloads "notes')

      await page.getByRole('link', { name: 'Edit this page' }).first().click()
      await page.locator('#wiki__text').click()
      await page.keyboard.press('Control+a')
      await page.keyboard.press('Delete')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('does not exist anymore').waitFor()
      await page.goto(`${wiki.url}/doku.php?id=notes&do=media&ns=`)
      await page.getByRole('link', { name: 'notes.zip' }).first().click()
      page.once('dialog', (dialog) => void dialog.accept())
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByText('has been deleted').waitFor()
    })
    expect(await wiki.media('notes.zip')).toBeUndefined()
    expect(script).not.toContain(wiki.password)
    expect(script).toContain('answer_dialog')
    await repeat('wiki.yaml', wiki.password, async () => {
      expect(await wiki.page('notes')).toBeUndefined()
      expect(await wiki.media('notes.zip')).toBeUndefined()
    })
  })

  test('creates a database in phpLiteAdmin, exports it and deletes it', async () => {
    const admin = await started(startPhpLiteAdmin())
    await record(admin.url, 'admin.yaml', async (page, { contains }) => {
      await page.locator('[type=password]').click()
      await page.keyboard.type(admin.password)
      await page.getByRole('button', { name: 'Log In' }).click()
      await page.locator('[name=new_dbname]').fill('shop')
      await page.getByRole('button', { name: 'Create' }).click()
      await page.locator('[name=tablename]').fill('teas')
      await page.locator('[name=tablefields]').fill('2')
      await page.getByRole('button', { name: 'Go', exact: true }).first().click()
      await page.locator('[name="0_field"]').fill('id')
      await page.locator('[name="0_type"]').selectOption('INTEGER')
      await page.locator('[name="0_primarykey"]').check()
      await page.locator('[name="1_field"]').fill('name')
      await page.locator('[name="1_type"]').selectOption('TEXT')
      await page.locator('[name=createtable], [value=Create]').last().click()
      await page.getByText('has been created').waitFor()
      await page.getByRole('link', { name: 'shop', exact: true }).first().click()
      await page.getByRole('link', { name: 'Export', exact: true }).first().click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export' }).click(),
      ])
      expect(await readFile(await download.path(), 'utf8')).toContain('teas')
      await contains('downloads')
      await page.getByRole('link', { name: 'Delete Database' }).click()
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByRole('link', { name: 'shop', exact: true }).first().waitFor({ state: 'detached' })
      expect(await admin.databases()).toEqual([])
    })
    await repeat('admin.yaml', admin.password, async () => expect(await admin.databases()).toEqual([]))
  })

  test('inserts a row in Adminer', async () => {
    const adminer = await started(startAdminer())
    await sqlite(adminer.database, teas)
    const stored = () => sqlite(adminer.database, 'select name, price from teas where id = 7')
    await record(adminer.url, 'adminer.yaml', async (page) => {
      await page.locator('select[name="auth[driver]"]').selectOption({ label: 'SQLite 3' })
      await page.locator('#username').fill(adminer.user)
      await page.locator('[name="auth[password]"]').fill(adminer.password)
      await page.locator('[name="auth[db]"]').fill(adminer.database)
      await page.getByRole('button', { name: 'Login' }).click()
      await page.getByRole('link', { name: 'teas', exact: true }).first().click()
      await page.getByRole('link', { name: 'New item' }).click()
      await page.locator('[name="fields[id]"]').fill('7')
      await page.locator('[name="fields[name]"]').fill('Lapsang')
      await page.locator('[name="fields[price]"]').fill('12')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('has been inserted').waitFor()
      expect(await stored()).toEqual([['Lapsang', 12]])
    })
    await sqlite(adminer.database, 'delete from teas where id = 7')
    for (const _ of [1, 2]) {
      await repeat('adminer.yaml', adminer.password, async () => {
        expect(await stored()).toEqual([['Lapsang', 12]])
        await sqlite(adminer.database, 'delete from teas where id = 7')
      })
    }
  })
})
