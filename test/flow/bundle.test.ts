import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { build } from '../../scripts/build.js'
import { heavyAmong } from '../support/guards.ts'

let outdir: string
let metafile: Awaited<ReturnType<typeof build>>

beforeAll(async () => {
  outdir = join(await mkdtemp(join(tmpdir(), 'bax-bundle-')), 'dist')
  const ended = spawnSync(process.execPath, ['-e', '0']).pid
  await Promise.all([mkdir(`${outdir}.new-${ended}`), mkdir(`${outdir}.new-${process.ppid}`), mkdir(`${outdir}.newer`)])
  metafile = await build(outdir)
})
afterAll(() => rm(join(outdir, '..'), { recursive: true, force: true }))

/** Returns the source files that are loaded before the first line of main runs. */
function staticGraph(entry: string): string[] {
  const outputs = metafile.outputs
  const seen = new Set<string>()
  const visit = (name: string) => {
    if (seen.has(name)) return
    seen.add(name)
    for (const { path, kind } of outputs[name]?.imports ?? []) if (kind === 'import-statement') visit(path)
  }
  visit(Object.keys(outputs).find((name) => name.endsWith(`/${entry}`))!)
  return [...seen].flatMap((name) => Object.keys(outputs[name]?.inputs ?? { [name]: {} }))
}

describe('a build', () => {
  test('removes what a killed build has left, and nothing else', async () => {
    const names = (await readdir(dirname(outdir))).toSorted()
    expect(names).toEqual(['dist', `dist.new-${process.ppid}`, 'dist.newer'])
  })
})

describe('the bundle', () => {
  const heavy = [
    'zod',
    'hono',
    'playwright',
    'chalk',
    'ora',
    'yaml',
    'ajv',
    'htmlparser2',
    'ws',
    'pixelmatch',
    'pngjs',
    'fflate',
    'tinyglobby',
    'ink',
    'react',
    'yoga-layout',
  ]

  test('does not load the heavy packages for a one-liner', () => {
    expect(staticGraph('program.js')).toContain('src/cli/program.ts')
    expect(heavyAmong([...staticGraph('main.js'), ...staticGraph('program.js')], heavy)).toEqual([])
  })

  test('does not load them for the library before its first call either', () => {
    expect(staticGraph('bax.mjs')).toContain('src/library/connection.ts')
    expect(heavyAmong(staticGraph('bax.mjs'), heavy)).toEqual([])
  })

  test('detects a planted heavy package, bundled or not', () => {
    const inputs = [...staticGraph('program.js'), 'node_modules/zod/v4/index.js', 'playwright']
    expect(heavyAmong(inputs, heavy)).toEqual(['zod', 'playwright'])
  })

  test('has a manifest that contains every operation and command as data', async () => {
    const manifest = JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8'))
    const click = manifest.commands.find(({ name }: { name: string }) => name === 'click')
    expect(click).toMatchObject({
      family: 'pointer',
      kind: 'action',
      params: [{ name: 'selector', required: true }, {}],
    })
    expect(manifest.operations.map(({ name }: { name: string }) => name)).toContain('createSession')
  })

  test('contains the version of the package', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(
      Object.keys(metafile.outputs).some((name) =>
        readFileSync(join(outdir, name.split('/').at(-1)!), 'utf8').includes(version),
      ),
    ).toBe(true)
  })
})
