/** How an installation is recognized by its folder. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { installationOf } from '../../../src/cli/installation/installation.ts'

const root = mkdtempSync(join(tmpdir(), 'bax-installed-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Creates files, and returns the installation of the package in a folder. */
function installedIn(folder: string, files: Record<string, string> = {}) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const manifest = join(root, folder, 'dist/manifest.json')
  const self = [join(root, 'bin/node'), join(root, folder, 'dist/main.js')] as const
  const { kind, path, update, remove } = installationOf({
    host: { pid: 1, uid: 0, platform: 'linux', nodeVersion: 'v20.12.0', manifest, self },
  })
  const short = (text: string) => text.replaceAll(root, '')
  return [kind, short(path), update('2.0.0').map(short), remove.map(short)] as const
}

test('of npm, for all users', () => {
  expect(installedIn('lib/node_modules/bax')).toEqual([
    'npm global',
    '/lib/node_modules/bax',
    ['npm install --global bax@latest', 'bax setup'],
    ['npm uninstall --global bax'],
  ])
})

test('of npm, in a project', () => {
  expect(installedIn('my app/node_modules/bax', { 'my app/package.json': '{}' })).toEqual([
    'npm project',
    '/my app/node_modules/bax',
    [`npm --prefix '/my app' install bax@latest`],
    [`npm --prefix '/my app' uninstall bax`],
  ])
})

test('of npx', () => {
  const files = { 'home/.npm/_npx/1a2b/package.json': '{}' }
  expect(installedIn('home/.npm/_npx/1a2b/node_modules/bax', files)).toEqual([
    'npx',
    '/home/.npm/_npx/1a2b/node_modules/bax',
    ['npx bax@latest'],
    ['rm -r /home/.npm/_npx/1a2b'],
  ])
})

test.each([
  ['pnpm/global/5/.pnpm/bax@1.0.0/node_modules/bax', 'pnpm add --global bax@latest', 'pnpm remove --global bax'],
  ['app/node_modules/.pnpm/bax@1.0.0/node_modules/bax', 'pnpm add bax@latest', 'pnpm remove bax'],
])('of pnpm: %s', (folder, update, remove) => {
  expect(installedIn(folder)).toEqual(['pnpm', `/${folder}`, [update], [remove]])
})

test('of Homebrew', () => {
  const folder = 'opt/homebrew/Cellar/bax/1.0.0/libexec/lib/node_modules/bax'
  expect(installedIn(folder)).toEqual(['homebrew', `/${folder}`, ['brew upgrade bax'], ['brew uninstall bax']])
})

test('of a Debian package', () => {
  const [kind, , [update], remove] = installedIn('usr/lib/bax', { 'usr/lib/bax/installation': 'deb\n' })
  expect([kind, remove]).toEqual(['deb', ['sudo apt-get remove bax']])
  expect(update).toMatch(/^sudo apt-get install \.\/bax_2\.0\.0_\w+\.deb$/)
})

test('of a single file, which is the program of the process', () => {
  const [kind, path, [update], remove] = installedIn('cache/program/1', {
    'cache/program/1/installation': 'single file\n',
  })
  expect([kind, path, remove]).toEqual(['single file', '/bin/node', ['rm /bin/node']])
  expect(update).toMatch(/^install -m 755 bax-2\.0\.0-linux-\w+ \/bin\/node$/)
})

test('of a checkout', () => {
  expect(installedIn('src/bax', { 'src/bax/scripts/setup.js': '' })).toEqual([
    'checkout',
    '/src/bax',
    ['git -C /src/bax pull'],
    ['rm -r /src/bax'],
  ])
})

test('of an unknown kind, without commands', () => {
  expect(installedIn('opt/bax')).toEqual(['unknown', '/opt/bax', [], []])
})

test('needs the version of Node that package.json names', () => {
  const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
  const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
  expect(`>=${/needed = '(.*)'/.exec(read('bin/check-node.js'))![1]}`).toBe(engines.node)
})
