/** Snapshots of pages that hide text from people, or hide elements that people can click from programs. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'
import { waitUntil } from '../support/wait.ts'
import { clickableTraps, framed, hiddenTraps, ordinaryPages, secret } from '../support/trap-pages.ts'

const page = (html: string) => `<!doctype html><title>Trap</title><p>Before the trap</p>${html}<p>After the trap</p>`

const pages = Object.fromEntries([
  ...hiddenTraps.map(({ html }, at) => [`/hidden/${at}`, page(html)]),
  ...clickableTraps.map(({ html }, at) => [`/clickable/${at}`, page(html)]),
  ['/frame', framed],
  ...ordinaryPages.map(({ html }, at) => [`/ordinary/${at}`, page(html)]),
])

const guide = readFileSync(new URL('../../src/guide/hidden-text.md', import.meta.url), 'utf8')

/** Returns the rows of the table below a header in the guide. */
const rowsBelow = (header: string) => guide.slice(guide.indexOf(header)).split('\n\n')[0]!.split('\n').slice(2)

test('the guide has a row for every page', () => {
  const rows = hiddenTraps.map(({ name, absent }) => `| ${name} | ${absent ? 'without it' : '`[hidden]`'} |`)
  expect(rowsBelow('| the page hides text by')).toEqual(rows)
  expect(rowsBelow('| people click')).toEqual(clickableTraps.map(({ name }) => `| ${name} | a reference |`))
})

inUsualHomes(pages, (given) => {
  const observe = (input: Record<string, unknown> = {}) =>
    given.client().observe({ session_id: given.sessionId(), ...input } as never)

  test.each(hiddenTraps.map((trap, at) => ({ ...trap, at })))('marks text hidden by: $name', async ({ at, absent }) => {
    await given.open(`/hidden/${at}`)
    const { snapshot, hidden_texts: count } = await observe()
    const lines = snapshot!.split('\n')
    expect(lines).toContain('- text: Before the trap')
    expect(lines).toContain('- text: After the trap')
    const about = lines.filter((line) => line.includes(secret))
    if (absent) expect([about, count]).toEqual([[], undefined])
    else {
      expect(about.map((line) => line.trim())).toEqual(about.map(() => `- text [hidden]: "${secret}"`))
      expect(about.length).toBeGreaterThan(0)
      expect(count).toBe(about.length)
    }
  })

  test.each(ordinaryPages.map((ordinary, at) => ({ ...ordinary, at })))('marks nothing on: $name', async ({ at }) => {
    await given.open(`/ordinary/${at}`)
    const { snapshot, hidden_texts: count } = await observe()
    expect(snapshot!.split('\n').filter((line) => line.includes('[hidden]'))).toEqual([])
    expect(count).toBeUndefined()
  })

  test.each(clickableTraps.map((trap, at) => ({ ...trap, at })))(
    'lists what can be clicked by: $name',
    async ({ at }) => {
      await given.open(`/clickable/${at}`)
      await given.do('wait_for', { function: 'document.readyState === "complete"' })
      const seen = await observe()
      const { snapshot } = seen
      const [, ref] =
        /Target.*\[ref=(e\d+)\]/.exec(snapshot!) ?? expect.fail(`no control: ${snapshot ?? JSON.stringify(seen)}`)
      await given.do('click', { selector: `ref=${ref}` })
      await waitUntil(async () => (await given.value('get_title')) === 'clicked')
    },
  )
})
