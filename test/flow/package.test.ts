import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAllowed, licensesFile, licensesOf, packageFolder } from '../../scripts/licenses.js'
import { notesOf } from '../../scripts/release-notes.js'
import { builtOnce } from '../support/build-once.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the npm package', () => {
  let files: string[]
  beforeAll(async () => {
    // In a checkout, `dist` is a link, which npm leaves out; before packing, a build replaces it.
    const folder = await mkdtemp(join(tmpdir(), 'bax-pack-'))
    for (const name of ['bin', 'src', 'package.json', 'README.md', 'LICENSE'])
      await cp(join(root, name), join(folder, name), { recursive: true })
    await cp(await builtOnce(), join(folder, 'dist'), { recursive: true })
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
    })
    await rm(folder, { recursive: true })
    files = (JSON.parse(stdout) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path)
  })

  test('contains the program, the README, the guide and its licences, and nothing else', async () => {
    const folders = new Set(files.map((path) => (path.includes('/') ? path.split('/')[0] : path)))
    expect([...folders].toSorted()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json'])
    const pages = (await readdir(join(root, 'src/guide'))).map((name) => `dist/guide/${name}`)
    expect(files.filter((path) => path.startsWith('dist/guide/')).toSorted()).toEqual(pages.toSorted())
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/bax.js',
        'bin/check-node.js',
        'dist/check-node.js',
        'dist/main.js',
        'dist/bax.mjs',
        'dist/bax.d.mts',
        'dist/manifest.json',
        'dist/model.json',
        'dist/cmaps.br',
        `dist/${licensesFile}`,
      ]),
    )
    expect(files.filter((path) => /\.(?:ts|tsx|map|log|tgz)$/.test(path))).toEqual([])
  })

  test('has a program with an interpreter that linters of packages and the command files of npm on Windows accept', async () => {
    // A path, such as /bin/sh, is none on Windows.
    expect(await readFile(join(root, 'bin/bax.js'), 'utf8')).toMatch(/^#!\/usr\/bin\/env sh\n/)
  })

  test('has no URLs that do not exist', async () => {
    const description = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, unknown>
    expect(JSON.stringify(description)).not.toMatch(/https?:|git\+|@[a-z]+\.(?:com|org|dev)/)
    expect(description).toMatchObject({ engines: { node: '>=20.12' }, license: 'MIT', keywords: expect.any(Array) })
  })
})

describe('on a Node that is too old', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-old-node-'))
    const old = `for (const [name, value] of [['versions', { ...process.versions, node: '20.11.1' }], ['version', 'v20.11.1']])
      Object.defineProperty(process, name, { value })
    delete Array.prototype.toSorted`
    await writeFile(join(folder, 'old-node.cjs'), old)
  })
  afterAll(() => rm(folder, { recursive: true }))

  test.each([
    ['the library', async () => ['-e', `import(${JSON.stringify(pathToFileURL(join(await builtOnce(), 'bax.mjs')))})`]],
    ['the program', async () => [join(root, 'bin/bax.js'), '--version']],
  ])('%s says which one is needed', async (_, args) => {
    const run = promisify(execFile)(process.execPath, ['--require', join(folder, 'old-node.cjs'), ...(await args())])
    await expect(run).rejects.toMatchObject({
      stderr: expect.stringMatching(/^(?:[^]*\n)?(?:E|e)rror: bax needs Node 20\.12 or newer; this is v20\.11\.1\n/),
    })
  })
})

describe('licences of bundled packages', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bax-licences-'))
    await plant('node_modules/fine', { version: '1.0.0', license: 'MIT' }, 'Permission is granted')
    await plant(
      'node_modules/fine/node_modules/@scope/inner',
      { version: '2.0.0', license: '(MIT OR GPL-3.0)' },
      'Also',
    )
    await plant('node_modules/copyleft', { version: '1.0.0', license: 'GPL-3.0' }, 'Share alike')
    await plant('node_modules/silent', { version: '1.0.0', license: 'MIT' })
  })
  afterAll(() => rm(folder, { recursive: true }))

  async function plant(path: string, description: object, text?: string) {
    await mkdir(join(folder, path), { recursive: true })
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    await writeFile(join(folder, path, 'package.json'), JSON.stringify({ name, ...description }))
    if (text !== undefined) await writeFile(join(folder, path, 'LICENSE'), text)
  }

  test('are listed once for each package, with their texts', async () => {
    const text = await licensesOf(folder, [
      'node_modules/fine/a.js',
      'node_modules/fine/b.js',
      'node_modules/fine/node_modules/@scope/inner/c.js',
      'src/main.ts',
    ])
    expect(text).toContain('code of the following 2 packages')
    expect(text).toContain('fine 1.0.0 (MIT)\n\nPermission is granted')
    expect(text).toContain('@scope/inner 2.0.0 ((MIT OR GPL-3.0))\n\nAlso')
  })

  test.each([
    ['copyleft', 'copyleft 1.0.0: the licence GPL-3.0 is not allowed'],
    ['silent', 'silent 1.0.0: the package contains no licence text'],
  ])('fail the build when one does not allow it: %s', async (name, message) => {
    await expect(licensesOf(folder, [`node_modules/${name}/index.js`])).rejects.toThrow(message)
  })

  test('allow redistribution when one alternative, or every combined licence does', () => {
    expect(['MIT', 'MIT OR GPL-2.0', '(ISC AND MIT)'].filter(isAllowed)).toHaveLength(3)
    expect(
      ['GPL-3.0', 'MIT AND GPL-2.0', '(MIT OR ISC) AND GPL-3.0', 'SEE LICENSE IN x', undefined, {}].filter(isAllowed),
    ).toEqual([])
  })

  test('belong to the innermost package of a path', () => {
    expect(packageFolder('node_modules/a/node_modules/b/lib/x.js')).toBe('node_modules/a/node_modules/b')
    expect(packageFolder('src/main.ts')).toBeUndefined()
  })
})

describe('notes of a release', () => {
  const changelog = '# Changelog\n\n## Unreleased\n\n- new\n\n## 1.1.0\n\n### Fixed\n\n- a bug\n\n## 1.0.0\n'

  test('are the section of its version', () => expect(notesOf(changelog, '1.1.0')).toBe('### Fixed\n\n- a bug'))

  test.each(['1.0.0', '1.1', '2.0.0'])('are missing for %s', (version) =>
    expect(() => notesOf(changelog, version)).toThrow(`no section "## ${version}"`),
  )
})
