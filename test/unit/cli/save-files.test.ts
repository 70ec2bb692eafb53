import { describe, expect, test } from 'vitest'
import { localName, targetOf } from '../../../src/cli/shell/save-files.ts'

describe('a file of a shell session', () => {
  test('is saved under its name in the current folder, or as requested', () => {
    expect(targetOf('/home/ada', undefined, 'plots/a.png')).toBe('/home/ada/plots/a.png')
    expect(targetOf('/home/ada', 'b.png', 'a.png')).toBe('/home/ada/b.png')
    expect(targetOf('/home/ada', 'out/', 'a.png')).toBe('/home/ada/out/a.png')
  })

  test.each(['../a.png', '/etc/passwd', 'plots/../../a.png', '.'])('named %s is not saved outside of it', (name) => {
    expect(() => targetOf('/home/ada', undefined, name)).toThrow(/is outside \/home\/ada/)
  })

  test('whose name is not UTF-8 keeps a name of its own', () => {
    const named = (bytes: string) =>
      localName({ name: '\ufffd.txt', name_b64: Buffer.from(bytes, 'latin1').toString('base64') })
    expect(named('\xff.txt')).toBe('%FF.txt')
    expect(named('a/\xfe.txt')).toBe('a/%FE.txt')
    expect(localName({ name: 'ä.txt' })).toBe('ä.txt')
  })
})
