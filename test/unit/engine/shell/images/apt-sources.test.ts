import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseLines, parseStanzas, readAptSources } from '../../../../../src/engine/shell/images/apt-sources.ts'

const plain = { keyring: undefined, trusted: false }

describe('apt sources with one per line', () => {
  test('have mirror, release, components and options', () => {
    const text = `
# deb http://commented.example/debian bookworm main
deb http://deb.debian.org/debian bookworm main contrib # with a remark
deb-src http://deb.debian.org/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg trusted=yes] https://mirror.example/ubuntu noble universe
`
    expect(parseLines(text)).toEqual([
      { uri: 'http://deb.debian.org/debian', suite: 'bookworm', components: ['main', 'contrib'], ...plain },
      {
        uri: 'https://mirror.example/ubuntu',
        suite: 'noble',
        components: ['universe'],
        keyring: '/usr/share/keyrings/x.gpg',
        trusted: true,
      },
    ])
  })
})

describe('apt sources in stanzas', () => {
  test('have every release of every mirror, without disabled ones', () => {
    const text = `Types: deb deb-src
# a remark in between
URIs: http://one.example/debian
 http://two.example/debian
Suites: trixie trixie-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
Enabled: no
URIs: http://off.example
Suites: trixie
Components: main

Types: deb-src
URIs: http://source.example
Suites: trixie
Components: main

Types: deb
URIs: http://own.example
Suites: sid
Components: main
Trusted: yes
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
`
    const debian = { components: ['main'], keyring: '/usr/share/keyrings/debian.gpg', trusted: false }
    expect(parseStanzas(text)).toEqual([
      { uri: 'http://one.example/debian', suite: 'trixie', ...debian },
      { uri: 'http://one.example/debian', suite: 'trixie-updates', ...debian },
      { uri: 'http://two.example/debian', suite: 'trixie', ...debian },
      { uri: 'http://two.example/debian', suite: 'trixie-updates', ...debian },
      { uri: 'http://own.example', suite: 'sid', components: ['main'], keyring: undefined, trusted: true },
    ])
  })
})

test('reads apt files in the order of apt, skips others, and returns none without apt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bax-apt-'))
  try {
    expect(await readAptSources(folder)).toEqual([])
    const parts = join(folder, 'sources.list.d')
    await mkdir(parts)
    await writeFile(join(folder, 'sources.list'), 'deb http://first.example a main\n')
    await writeFile(join(parts, 'b.list'), 'deb http://third.example c main\n')
    await writeFile(join(parts, 'a.sources'), 'Types: deb\nURIs: http://second.example\nSuites: b\nComponents: main\n')
    await writeFile(join(parts, 'c.list.save'), 'deb http://never.example d main\n')
    expect((await readAptSources(folder)).map(({ uri }) => uri)).toEqual([
      'http://first.example',
      'http://second.example',
      'http://third.example',
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
