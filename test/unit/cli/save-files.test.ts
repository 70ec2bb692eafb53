import { existsSync } from 'node:fs'
import { lstat, mkdtemp, open, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { localName, saveBytes, targetOf } from '../../../src/cli/shell/save-files.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'bax-save-'))))
afterEach(() => rm(folder, { recursive: true }))

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

describe('a file of a shell session', () => {
  test('is saved under its name in the current folder, or as requested', async () => {
    expect(await targetOf('/home/ada', undefined, 'plots/a.png')).toBe('/home/ada/plots/a.png')
    expect(await targetOf('/home/ada', 'b.png', 'a.png')).toBe('/home/ada/b.png')
    expect(await targetOf('/home/ada', 'out/', 'a.png')).toBe('/home/ada/out/a.png')
  })

  test.each(['../a.png', '/etc/passwd', 'plots/../../a.png', '.'])(
    'named %s is not saved outside of it',
    async (name) => {
      await expect(targetOf('/home/ada', undefined, name)).rejects.toThrow(/is outside \/home\/ada/)
    },
  )

  test('is not saved through links that lead outside', async () => {
    await symlink('/usr', join(folder, 'folder'))
    await symlink('/nonexistent', join(folder, 'nowhere'))
    await symlink('.', join(folder, 'inside'))
    for (const name of ['folder', 'folder/a.png', 'nowhere', 'nowhere/a.png', 'inside/folder/a.png'])
      await expect(targetOf(folder, undefined, name), name).rejects.toThrow(/is outside/)
    expect(await targetOf(folder, undefined, 'inside/a.png')).toBe(join(folder, 'inside/a.png'))
  })

  test('is not saved below a file, which is reported', async () => {
    await writeFile(join(folder, 'a'), 'a file')
    await expect(targetOf(folder, undefined, 'a/b')).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(targetOf(folder, 'a/b/', '.')).rejects.toMatchObject({ code: 'invalid_request' })
    for (const path of ['a/b', 'a/b/c'])
      await expect(saveBytes(join(folder, path), chunks('x'))).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining(`cannot write ${join(folder, path)}: `),
      })
  })

  test.skipIf(process.platform !== 'linux')(
    'is written to a file behind a link in /dev without replacing it',
    async () => {
      const path = join(folder, 'opened')
      const file = await open(path, 'w')
      const link = `/dev/fd/${file.fd}`
      await saveBytes(link, chunks('through ', 'the link'))
      await file.close()
      expect(await readFile(path, 'utf8')).toBe('through the link')
    },
  )

  test('replaces a link instead of writing through it', async () => {
    const [file, link] = [join(folder, 'file'), join(folder, 'link')]
    await writeFile(file, 'earlier')
    await symlink(file, link)
    await saveBytes(link, chunks('a ', 'file'))
    expect([await readFile(link, 'utf8'), await readFile(file, 'utf8')]).toEqual(['a file', 'earlier'])
  })

  test.skipIf(!existsSync('/dev/full'))('that is written to a full device is not saved', async () => {
    const link = join(folder, 'full')
    await symlink('/dev/full', link)
    await expect(saveBytes(link, chunks('new'))).rejects.toMatchObject({
      code: 'no_space',
      message: `cannot write ${link}: no space left on the device`,
    })
    expect((await lstat(link)).isSymbolicLink()).toBe(true)
  })

  test('whose name is not UTF-8 keeps a name of its own', () => {
    const named = (bytes: string) =>
      localName({ name: '\ufffd.txt', name_b64: Buffer.from(bytes, 'latin1').toString('base64') })
    expect(named('\xff.txt')).toBe('%FF.txt')
    expect(named('a/\xfe.txt')).toBe('a/%FE.txt')
    expect(localName({ name: 'ä.txt' })).toBe('ä.txt')
  })
})
