/** Scripts that build packages, with settings that people have. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildFormula } from '../../../scripts/release/homebrew.js'
import { buildEntry } from '../../../scripts/release/single-file.js'

let folder: string
let entry: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-release-'))
  entry = join(folder, 'entry.cjs')
  await buildEntry(entry)
})
afterAll(() => rm(folder, { recursive: true }))

test.each(['', '/'])('the formula has the path of a registry that ends with %j', async (end) => {
  await writeFile(join(folder, 'bax-1.0.0.tgz'), 'package')
  vi.stubEnv('npm_config_registry', `https://packages.example/npm${end}`)
  const description = { version: '1.0.0', description: 'Browsers', homepage: undefined, license: 'MIT' }
  await buildFormula({ output: folder, description })
  vi.unstubAllEnvs()
  const formula = await readFile(join(folder, 'bax.rb'), 'utf8')
  expect(formula).toContain('url "https://packages.example/npm/bax/-/bax-1.0.0.tgz"\n')
})

test('the single file runs from a cache folder that is relative to the working folder', async () => {
  const program = `process.stdout.write(JSON.stringify([__filename, process.env.BAX_CACHE_DIR]))`
  const head = JSON.stringify([{ path: 'dist/main.js', mode: 0o644, size: program.length }])
  // Only a built single file has assets.
  const assets = `
    const { brotliCompressSync } = require('node:zlib')
    const bytes = brotliCompressSync(${JSON.stringify(`${head}\n${program}`)})
    const sea = { getAsset: () => '0123456789abcdef', getRawAsset: () => bytes }
    const Module = require('node:module')
    const load = Module._load
    Module._load = (name, ...more) => (name === 'node:sea' ? sea : load(name, ...more))`
  await writeFile(join(folder, 'assets.cjs'), assets)
  const cwd = join(folder, 'work')
  await mkdir(cwd)
  const env = { PATH: process.env['PATH'], BAX_CACHE_DIR: 'cache' }
  const { stdout } = await promisify(execFile)(process.execPath, ['-r', join(folder, 'assets.cjs'), entry], {
    cwd,
    env,
  })
  const cache = join(cwd, 'cache')
  expect(JSON.parse(stdout)).toEqual([join(cache, 'program/0123456789abcdef/dist/main.js'), cache])
})

test.each([
  ['a folder in a file', 'assets.cjs/cache', 'ENOTDIR'],
  ['a folder that cannot exist', '/proc/bax', 'ENOENT'],
])('the single file says that it cannot unpack into %s, and which variable changes it', async (_, cache, code) => {
  // In place of the assets that only a single file has.
  const assets = `const Module = require('node:module')
      const load = Module._load
      const sea = { getAsset: () => 'hash', getRawAsset: () => Buffer.alloc(0) }
      Module._load = (name, ...rest) => (name === 'node:sea' ? sea : load(name, ...rest))`
  await writeFile(join(folder, 'assets.cjs'), assets)
  const env = { ...process.env, BAX_CACHE_DIR: resolve(folder, cache) }
  const run = promisify(execFile)(process.execPath, ['--require', join(folder, 'assets.cjs'), entry], { env })
  await expect(run).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      new RegExp(
        `^error: cannot unpack bax into \\S*${cache}/program: ${code}.*\\nhint: choose another folder with BAX_CACHE_DIR\\n$`,
      ),
    ),
  })
})
