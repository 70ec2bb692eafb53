/** Updates of selectors in script files. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { updateSelectors } from '../../../../src/cli/run/heal/update-selectors.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-test-update-'))
  file = join(folder, 'shop.yaml')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const script = `steps:
  - click: '#old'
  - click: { selector: "#cost-$\${each}" }
  - click: '#row'
`
const at = (step: number, ...field: string[]) => ['steps', step, 'click', ...field]

test('replaces the selectors that a script has in these places', async () => {
  await writeFile(file, script)
  const updates = updateSelectors([
    { file, at: at(1, 'selector'), from: '#cost-${each}', to: '#price-${each}' },
    { file, at: at(0), from: '#old', to: '#new' },
    { file, at: at(0), from: '#old', to: '#new' },
  ])
  expect(await readFile(file, 'utf8')).toBe(script.replace('old', 'new').replace('cost', 'price'))
  expect(updates.get(file)).toMatchObject({ count: 2, diff: [{ line: 2 }, { line: 3 }], skipped: [] })
})

test('leaves a place that has another selector by now, and one whose selector stood for several elements', async () => {
  const changed = script.replace('#old', '#edited')
  await writeFile(file, changed)
  const updates = updateSelectors([
    { file, at: at(0), from: '#old', to: '#new' },
    { file, at: at(2), from: '#row', to: '#first' },
    { file, at: at(2), from: '#row', to: '#second' },
    { file, at: at(7), from: '#gone', to: '#new' },
  ])
  expect(await readFile(file, 'utf8')).toBe(changed)
  expect(updates.get(file)).toEqual({
    count: 0,
    diff: [],
    skipped: [
      { from: '#old', reason: 'the script does not have it written out there' },
      { from: '#row', reason: 'it stood for different elements' },
      { from: '#gone', reason: 'the script does not have it written out there' },
    ],
  })
})
