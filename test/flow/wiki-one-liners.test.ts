/** Drives a real application with the lines that a person types, with a local engine and with a server. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CliResult } from '../support/cli.ts'
import { missingForWiki, startWiki, type Wiki } from '../support/dokuwiki.ts'
import { type Served, servedWithinMs, serveBax } from '../support/served.ts'
import { splitWords } from '../../src/core/text/shell-words.ts'

const reason = missingForWiki()

describe.skipIf(reason)(`DokuWiki${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let wiki: Wiki
  let served: Served
  let folder: string
  let stateDir: string
  beforeAll(async () => {
    ;[wiki, served, folder] = await Promise.all([startWiki(), serveBax(), mkdtemp(join(tmpdir(), 'bax-lines-'))])
    stateDir = await served.built.stateDir()
  }, servedWithinMs)
  afterAll(async () => {
    await served?.close()
    await wiki?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** An archive with a comment; the wiki sends archives as downloads. */
  const archive = (comment: string) =>
    Buffer.concat([
      Buffer.from('PK\u0005\u0006'),
      Buffer.alloc(16),
      Buffer.from([comment.length, 0]),
      Buffer.from(comment),
    ])

  const homes = [
    { where: 'a local engine', name: 'local', env: () => ({ BAX_STATE_DIR: stateDir }) },
    {
      where: 'a server',
      name: 'served',
      env: () => ({ BAX_STATE_DIR: join(folder, 'client'), BAX_SERVER: served.url, BAX_API_KEY: served.key }),
    },
  ]
  describe.each(homes)('with one-liners and $where', ({ name, env }) => {
    const file = `${name}.zip`

    /** Runs a line as a shell does, and expects success. */
    async function run(line: string): Promise<CliResult> {
      const result = await served.built.run(splitWords(line).words.slice(1), { cwd: folder, env: env() })
      expect([line, result.code, result.code === 0 ? '' : result.stderr]).toEqual([line, 0, ''])
      return result
    }
    const host = () => wiki.url.replace('http://', '')
    /** Returns the reference in the first line of an output that matches. */
    const refIn = ({ stdout }: CliResult, line: RegExp) =>
      /\be\d+\b/.exec(stdout.split('\n').find((text) => line.test(text))!)![0]

    const logIn = async () => {
      await run(`bax open ${host()}`)
      await run(`bax click 'text=Log In'`)
      const form = await run(`bax snapshot -i`)
      await run(`bax fill @${refIn(form, /textbox "Username"/)} ${wiki.user}`)
      await run(`bax fill 'role=textbox[name="Password"]' ${wiki.password}`)
      await run(`bax press Enter`)
      await run(`bax wait --text 'Logged in as'`)
      expect((await run(`bax find 'Anna Example'`)).stdout).toContain('Logged in as: Anna Example (anna)')
    }

    const editPage = async () => {
      await run(`bax open '${host()}/doku.php?id=${name}'`)
      await run(`bax click @${refIn(await run(`bax find 'Create this page'`), /^e\d+ +link/)}`)
      await run(`bax fill '#wiki__text' '====== Notes ======\nAll **notes**: {{:${file}}}'`)
      await run(`bax click 'role=button[name="Preview"]'`)
      await run(`bax wait '.preview >> role=heading[name="Notes"]'`)
      await run(`bax click 'role=button[name="Save"]'`)
      await run(`bax wait '#wiki__text' --state hidden`)
      expect((await run(`bax get text h1#notes`)).stdout).toBe('Notes\n')
      expect(await wiki.page(name)).toContain('All **notes**')
    }

    const uploadFile = async () => {
      await writeFile(join(folder, file), archive(name))
      await run(`bax click 'role=link[name="Media Manager"]'`)
      await run(`bax wait --url '**do=media**'`)
      await run(`bax click @${refIn(await run(`bax find Upload`), /^e\d+ +link/)}`)
      await run(`bax upload 'input[type=file]' ./${file}`)
      await run(`bax click 'role=button[name="Upload"]'`)
      await run(`bax wait 'role=link[name="${file}"]'`)
      expect(await wiki.media(file)).toEqual(archive(name))
    }

    const downloadFile = async () => {
      await run(`bax tab new '${wiki.url}/doku.php?id=${name}'`)
      const { stderr } = await run(`bax click 'role=link[name="${file}"]'`)
      // The session has the uploaded file under its own name.
      const advice = `bax session download '${name} (2).zip'`
      expect(stderr).toContain(advice)
      await run(`${advice} -o from-wiki-${file}`)
      expect(await readFile(join(folder, `from-wiki-${file}`))).toEqual(archive(name))
      await run(`bax tab close`)
      expect((await run(`bax tab`)).stdout.trim().split('\n')).toHaveLength(2)
    }

    const deleteBoth = async () => {
      await run(`bax open '${host()}/doku.php?id=${name}&do=edit'`)
      await run(`bax fill '#wiki__text' ''`)
      await run(`bax click 'role=button[name="Save"]'`)
      await run(`bax wait --text 'does not exist anymore'`)
      expect(await wiki.page(name)).toBeUndefined()

      await run(`bax open '${host()}/doku.php?do=media&ns='`)
      await run(`bax click 'role=link[name="${file}"]'`)
      const dismissed = await run(`bax click 'role=button[name="Delete"]'`)
      expect(dismissed.stderr).toMatch(/dismissed confirm .*run "bax dialog accept" first/)
      expect(await wiki.media(file)).toEqual(archive(name))
      await run(`bax dialog accept`)
      await run(`bax click 'role=button[name="Delete"]'`)
      await run(`bax wait --text 'The file "${file}" has been deleted'`)
      expect(await wiki.media(file)).toBeUndefined()
      await run(`bax close`)
    }

    test(
      'logs in, edits a page, uploads and downloads a file, and deletes both',
      async () => {
        await logIn()
        await editPage()
        await uploadFile()
        await downloadFile()
        await deleteBoth()
      },
      servedWithinMs,
    )
  })
})
