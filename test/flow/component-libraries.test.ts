/** Every control of five component libraries, set by `fill_form` and by single commands. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Given, inUsualHomes } from '../support/commands.ts'
import { controlTable, fields, type Library, libraryNames, operated, serveLibraries } from '../support/libraries.ts'
import type { Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

let site: Site
let folder: string
beforeAll(async () => {
  ;[site, folder] = await Promise.all([serveLibraries(), mkdtemp(join(tmpdir(), 'bax-libraries-'))])
  await writeFile(join(folder, 'resume.txt'), 'text')
}, 300_000)
afterAll(async () => {
  await site?.close()
  await rm(folder, { recursive: true, force: true })
})

const timeout_ms = 25_000
const limit = 240_000

const openLibrary = async (given: Given, library: Library) => {
  await given.do('navigate_to', { url: `${site.url}/${library}` })
  await given.do('wait_for', { function: 'window.state' })
}

/** Waits until the state of the page has these values, and reports the difference if it does not get them. */
async function expectState(given: Given, wanted: Record<string, unknown>): Promise<void> {
  const keys = JSON.stringify(Object.keys(wanted))
  const read = async () =>
    JSON.parse((await given.evaluate(`JSON.stringify(${keys}.map((key) => state[key]))`)) as string)
  const values = JSON.stringify(Object.values(wanted))
  await waitUntil(async () => JSON.stringify(await read()) === values).catch(() => undefined)
  expect(await read()).toEqual(Object.values(wanted))
}

inUsualHomes({}, (given) => {
  describe.each(libraryNames)('%s', (library) => {
    const own = fields.filter((one) => one.libraries.includes(library))
    const wanted = (list: typeof own) =>
      Object.fromEntries(list.map(({ key, value, state }) => [key, state?.[library] ?? value]))

    test('fill_form sets all controls by their labels', { timeout: limit }, async () => {
      await openLibrary(given, library)
      const values = Object.fromEntries(own.map(({ label, value }) => [label, value]))
      const { fields: set } = await given.do('fill_form', { fields: values, timeout_ms })
      expect((set as { field: string }[]).map(({ field }) => field)).toEqual(own.map(({ label }) => label))
      expect(JSON.stringify(set)).not.toContain('internal:')
      await expectState(given, wanted(own))
    })

    test('single commands set the controls by their labels', { timeout: limit }, async () => {
      await openLibrary(given, library)
      const singles = own.filter(({ single }) => single)
      for (const { label, value, single } of singles) {
        const data = { fill: { text: String(value) }, select_option: { values: [value].flat().map(String) }, check: {} }
        await given.do(single!, { selector: `label="${label}"`, ...data[single!], timeout_ms })
      }
      await expectState(given, wanted(singles))
    })

    test.each(operated.filter(({ steps }) => steps[library]))('$name', { timeout: limit }, async ({ steps, state }) => {
      await openLibrary(given, library)
      for (const [command, data] of steps[library]!) await given.do(command, data)
      await expectState(given, state)
    })

    test('upload_files chooses a file', { timeout: limit }, async () => {
      await openLibrary(given, library)
      await given.do('upload_files', { selector: 'input[type=file]', files: [join(folder, 'resume.txt')] })
      await expectState(given, { resume: 'resume.txt' })
    })
  })
})

test('the guide has the table of these controls', () => {
  const guide = readFileSync(new URL('../../src/guide/forms.md', import.meta.url), 'utf8')
  expect(guide).toContain(controlTable())
})
