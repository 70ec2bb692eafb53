/** `bax extract` of many files in the built program: worker threads have the same output as sequential extraction. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bax, type BuiltBax, buildBax } from '../support/cli.ts'
import { templateSites } from '../support/template-sites.ts'

const count = 80
const name = (at: number) => `page-${String(at).padStart(3, '0')}`
const sentence = 'It says at some length what a page of its kind says, with commas, and a full stop at the end.'
/** Pages of very different sizes, so that later ones often finish first. */
const html = (at: number) =>
  `<html><head><title>Page ${at}</title></head><body><nav><a href="/">Home</a></nav><main><h1>Page ${at}</h1>${`<p>${sentence} <a href="next${at}">Next</a></p>`.repeat(1 + ((at * 37) % 50))}</main></body></html>`

let built: BuiltBax
let folder: string

beforeAll(async () => {
  built = await buildBax()
  folder = await mkdtemp(join(tmpdir(), 'bax-test-many-'))
  for (let at = 0; at < count; at++) await writeFile(join(folder, `${name(at)}.html`), html(at))
  await writeFile(
    join(folder, 'urls.json'),
    JSON.stringify(Object.fromEntries([...Array(count + 1).keys()].map((at) => [name(at), `https://x.test/${at}/`]))),
  )
})
afterAll(async () => {
  await built?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Removes durations. */
const withoutDurations = (text: string) => text.replaceAll(/"ms":[\d.]+/g, '"ms":0')

test('prints a folder of files in order, like a single thread', async () => {
  const many = await built.run(['extract', folder, '--ndjson'], { cwd: folder })
  const one = await bax(['extract', folder, '--ndjson'], { cwd: folder })
  // V8 reports flags that it does not know.
  expect(many).toMatchObject({ code: 0, stderr: '' })
  expect(withoutDurations(many.stdout)).toBe(withoutDurations(one.stdout))
  const files = many.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).file as string)
  expect(files).toEqual(Array.from({ length: count }, (_, at) => join(folder, `${name(at)}.html`)))
})

test('continues after an unreadable file at any position', async () => {
  const names = Array.from({ length: count }, (_, at) => `${name(at)}.html`).with(5, 'gone.html')
  const result = await built.run(['extract', ...names, '-o', 'out/'], { cwd: folder })
  expect(result).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('gone.html: cannot read the file: no such file or folder'),
  })
  expect(await readdir(join(folder, 'out'))).toHaveLength(count - 1)
  expect(await readFile(join(folder, 'out', `${name(7)}.md`), 'utf8')).toContain('(next7)')
})

test('converts a list of URLs to one JSON file with every page by its key', async () => {
  const { code, stderr } = await built.run(['extract', folder, 'out.json'], { cwd: folder })
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${name(count)}: cannot read the file`)])
  const all = JSON.parse(await readFile(join(folder, 'out.json'), 'utf8')) as Record<
    string,
    { markdown?: string; ms: number }
  >
  expect(Object.keys(all)).toEqual([...Array(count + 1).keys()].map(name))
  expect(all[name(3)]!.markdown).toContain('[Next](https://x.test/3/next3)')
  expect(all[name(3)]!.ms).toBeGreaterThan(0)
})

test('accepts standard input as one of the pages', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `${name(at)}.html`).with(20, '-')
  const { stdout } = await built.run(['extract', ...names, '--ndjson'], { cwd: folder, stdin: `<p>${sentence}</p>` })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[20]).toMatchObject({ file: '-', markdown: `${sentence}\n` })
  expect(lines[21].markdown).toContain('(next21)')
})

test('removes what repeats on several files, in order, unless --no-site-memory is given', async () => {
  const [articles] = templateSites as [(typeof templateSites)[number]]
  const names = Array.from({ length: 40 }, (_, at) => `story-${39 - at}.html`)
  for (const [at, file] of names.entries()) await writeFile(join(folder, file), articles.page(at))
  const extract = async (...more: string[]) => {
    const { code, stdout } = await built.run(['extract', ...more, '--ndjson'], { cwd: folder })
    expect(code).toBe(0)
    return withoutDurations(stdout)
  }
  const together = await extract(...names)
  expect(together).toBe(withoutDurations((await bax(['extract', ...names, '--ndjson'], { cwd: folder })).stdout))
  const pages = together
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { file: string; markdown: string })
  expect(pages.map(({ file }) => file)).toEqual(names)
  const few = names.slice(0, 3)
  const separate = await extract(...names, '--no-site-memory')
  expect(separate.startsWith(await extract(...few))).toBe(true)
  expect(separate).toContain('Maria Lindgren')
  expect(together).not.toContain('Maria Lindgren')
  for (const { markdown } of pages) expect(markdown.split('\n\n').length).toBeGreaterThan(6)
  const piped = await built.run(['extract', ...names.with(7, '-'), '--ndjson'], {
    cwd: folder,
    stdin: articles.page(7),
  })
  expect(withoutDurations(piped.stdout)).toBe(together.replace(names[7]!, '-'))
})
