import { existsSync } from 'node:fs'
import { lstat, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { saveBytes, targetOf } from '../../../src/cli/shell/save-files.ts'

describe('a file of a shell session', () => {
  test('is saved under its name in the current folder, or as requested', () => {
    expect(targetOf('/home/ada', undefined, 'plots/a.png')).toBe('/home/ada/plots/a.png')
    expect(targetOf('/home/ada', 'b.png', 'a.png')).toBe('/home/ada/b.png')
    expect(targetOf('/home/ada', 'out/', 'a.png')).toBe('/home/ada/out/a.png')
  })

  test.each(['../a.png', '/etc/passwd', 'plots/../../a.png', '.'])('named %s is not saved outside of it', (name) => {
    expect(() => targetOf('/home/ada', undefined, name)).toThrow(/is outside \/home\/ada/)
  })

  test('is written to the target of a link, which stays', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-save-'))
    const [file, link] = [join(folder, 'file'), join(folder, 'link')]
    try {
      await writeFile(file, 'earlier')
      await symlink(file, link)
      await saveBytes(link, chunks('new'))
      expect((await lstat(link)).isSymbolicLink()).toBe(true)
      expect(await readFile(file, 'utf8')).toBe('new')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test.skipIf(!existsSync('/dev/full'))('that is written to a full device is not saved', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-save-'))
    const link = join(folder, 'full')
    try {
      await symlink('/dev/full', link)
      await expect(saveBytes(link, chunks('new'))).rejects.toMatchObject({
        code: 'no_space',
        message: `cannot write ${link}: no space left on the device`,
      })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}
