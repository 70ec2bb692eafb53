/** Drives a real application with one-liners: login, form, upload, search. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingForWiki, startWiki, type Wiki } from '../support/dokuwiki.ts'

const run = promisify(execFile)
const reason = missingForWiki()

describe.skipIf(reason)(`DokuWiki${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let wiki: Wiki
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-wiki-'))
    wiki = await startWiki()
    await bax('session', 'create', '--headless', '--requested-name', 'wiki', '--start-url', wiki.url)
  })
  afterAll(async () => {
    await bax('engine', 'stop')
    await wiki?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs one command and returns its output. */
  async function bax(...args: string[]): Promise<string> {
    const env = { ...process.env, BAX_STATE_DIR: join(folder, 'state'), BAX_SESSION: 'wiki' }
    const { stdout } = await run(process.execPath, ['bin/bax.js', ...args], { env })
    return stdout.trim()
  }
  const open = (query: string) => bax('do', 'navigate-to', `${wiki.url}/doku.php?${query}`)

  test('logs in, writes a page with the editor, uploads a screenshot of it, and finds it again', async () => {
    await open('do=login')
    await bax('do', 'type-text', 'input[name=u]', wiki.user, 'then', 'type-text', 'input[name=p]', wiki.password)
    await bax('do', 'click', '#dw__login button[type=submit]', 'then', 'wait-for-navigation')
    expect(await bax('do', 'get-text', 'li.user')).toContain('Anna Example')

    await open('id=zebra&do=edit')
    const text = '====== Zebras ======\nStripes & **grass**.\n\n  * one\n  * two'
    await bax('do', 'type-text', '#wiki__text', text, '--clear')
    await bax('do', 'click', '#edbtn__preview', 'then', 'wait-for-element', '.preview .level1')
    expect(await bax('do', 'get-content', '--selector', '.preview')).toContain('Stripes & **grass**.')
    await bax('do', 'click', '#edbtn__save', 'then', 'wait-for-navigation')
    expect(await bax('do', 'get-content', '--selector', '#dokuwiki__content')).toContain('# Zebras')
    expect(await wiki.page('zebra')).toContain('**grass**')

    const screenshot = join(folder, 'stripes.png')
    await open('id=zebra')
    await bax('do', 'screenshot', '--full-page', '-o', screenshot)
    await open('id=zebra&do=media&tab_files=upload')
    await bax('do', 'type-text', '#mediamanager__page input[type=file]', screenshot)
    await bax('do', 'click', '#mediamanager__upload_button', 'then', 'wait-for-element', '.qq-upload-success')
    expect(await wiki.media('stripes.png')).toEqual(await readFile(screenshot))

    await open('id=zebra')
    // The wiki indexes a page when its pages load an image.
    await bax('do', 'evaluate', "fetch('/lib/exe/taskrunner.php?id=zebra').then((r) => r.status)")
    await bax(
      'do',
      'type-text',
      '#qsearch__in',
      'stripes',
      'then',
      'press-key',
      '#qsearch__in',
      'Enter',
      'then',
      'wait-for-navigation',
    )
    expect(await bax('do', 'get-text', '.search_fulltextresult')).toContain('Zebras')
  })
})
