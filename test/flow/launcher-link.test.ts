/** `bax` on the PATH, as package managers install it, leads to the native launcher after `bax setup`. */
import { execFile } from 'node:child_process'
import { chmod, cp, lstat, mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launcher as native } from '../../scripts/native.js'
import { linkLauncher } from '../../src/cli/engine/launcher-link.ts'
import type { Io } from '../../src/cli/io.ts'
import { version } from '../../src/core/version.ts'
import { builtOnce } from '../support/build-once.ts'

const run = promisify(execFile)
const program = `launcher-${process.arch}`
const root = fileURLToPath(new URL('../..', import.meta.url))
const noLauncher = process.platform !== 'linux' || (await native.compile([process.arch])).length > 0

let folder: string
let archive: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-link-'))
  archive = await pack('0.0.1')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Packs the build, without its dependencies, which are not needed to report a version. */
async function pack(packageVersion: string): Promise<string> {
  const source = join(folder, `source-${packageVersion}`)
  await cp(join(root, 'bin'), join(source, 'bin'), { recursive: true })
  await cp(await builtOnce(), join(source, 'dist'), { recursive: true, dereference: true })
  await writeFile(
    join(source, 'package.json'),
    JSON.stringify({ name: 'bax', version: packageVersion, bin: { bax: 'bin/bax.js' } }),
  )
  const { stdout } = await run('npm', ['pack', '--silent', '--offline'], { cwd: source })
  return join(source, stdout.trim())
}

const npm = (prefix: string, ...args: string[]) =>
  run('npm', [...args, '--global', '--prefix', prefix, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'])

/** Does what `bax setup` does to the links in some folders. */
const link = (packageFolder: string, ...folders: string[]) =>
  linkLauncher({
    host: { pid: process.pid, launcher: join(packageFolder, 'dist', program) } as Io['host'],
    env: {
      ...process.env,
      PATH: [...folders, process.env['PATH']].join(delimiter),
      BAX_STATE_DIR: join(folder, 'state'),
    },
    cwd: folder,
    signal: new AbortController().signal,
  })

/** Returns the version that `bax` in a folder reports. */
async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version'], { env: { ...process.env, BAX_STATE_DIR: join(folder, 'state') } })
  return stdout.trim()
}

const targetOf = (path: string) => readlink(path)

describe.skipIf(noLauncher)('the link of an installed package', () => {
  test('leads to the launcher, survives a move, is renewed by an upgrade and removed by an uninstall', async () => {
    const prefix = join(folder, 'prefix')
    await npm(prefix, 'install', archive)
    const bax = join(prefix, 'bin/bax')
    const installed = join(prefix, 'lib/node_modules/bax')
    expect(await targetOf(bax)).toBe('../lib/node_modules/bax/bin/bax.js')
    expect(await link(installed, join(prefix, 'bin'))).toEqual({ linked: [bax], failures: [] })
    expect(await targetOf(bax)).toBe(`../lib/node_modules/bax/dist/${program}`)
    expect(await versionOf(bax)).toContain(version)
    expect(await link(installed, join(prefix, 'bin'))).toEqual({ linked: [], failures: [] })

    await rename(prefix, `${prefix}-moved`)
    expect(await versionOf(`${prefix}-moved/bin/bax`)).toContain(version)
    await rename(`${prefix}-moved`, prefix)

    await npm(prefix, 'install', await pack('0.0.2'))
    expect(await targetOf(bax)).toBe('../lib/node_modules/bax/bin/bax.js')
    expect((await link(installed, join(prefix, 'bin'))).linked).toEqual([bax])

    await npm(prefix, 'uninstall', 'bax')
    await expect(lstat(bax)).rejects.toThrow('ENOENT')
  })

  describe('in other places', () => {
    let installed: string
    let bin: string
    beforeAll(async () => {
      bin = join(folder, 'other/node_modules/.bin')
      installed = join(folder, 'other/node_modules/bax')
      await mkdir(bin, { recursive: true })
      await cp(join(folder, 'source-0.0.1'), installed, { recursive: true })
    })

    test('is found behind the links of other package managers', async () => {
      await symlink('../bax/bin/bax.js', join(bin, 'bax'))
      const outer = join(folder, 'yarn')
      await mkdir(outer)
      await symlink('../other/node_modules/.bin/bax', join(outer, 'bax'))
      expect((await link(installed, outer)).linked).toEqual([join(bin, 'bax')])
      expect(await targetOf(join(outer, 'bax'))).toBe('../other/node_modules/.bin/bax')
      expect(await versionOf(join(outer, 'bax'))).toContain(version)
    })

    test('is left alone when it is a script, or leads to another bax, or to a checkout', async () => {
      const places = ['script', 'foreign', 'checkout'].map((name) => join(folder, name))
      for (const place of places) await mkdir(place)
      await writeFile(join(places[0]!, 'bax'), '#!/bin/sh\nexec node bax.js\n')
      await symlink(join(folder, 'source-0.0.1/bin/bax.js'), join(places[1]!, 'bax'))
      await symlink(join(root, 'bin/bax.js'), join(places[2]!, 'bax'))
      expect(await link(installed, ...places)).toEqual({ linked: [], failures: [] })
      expect(await link(root, places[2]!)).toEqual({ linked: [], failures: [] })
    })

    test('is left alone when the launcher does not run on this machine', async () => {
      const place = join(folder, 'other-machine')
      await mkdir(place)
      await cp(join(folder, 'source-0.0.1'), join(place, 'package'), { recursive: true })
      await symlink('package/bin/bax.js', join(place, 'bax'))
      const foreign = join(place, 'package/dist', program)
      await writeFile(foreign, '\u007FELF of another machine')
      await chmod(foreign, 0o755)
      const { linked, failures } = await link(join(place, 'package'), place)
      expect([linked, failures]).toEqual([
        [],
        [expect.stringContaining(`${join(place, 'bax')} starts bax through a shell: `)],
      ])
      expect(await targetOf(join(place, 'bax'))).toBe('package/bin/bax.js')
    })
  })
})
