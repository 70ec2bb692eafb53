/** Steps that the commands of a session become. */
import { expect, test } from 'vitest'
import { scriptSteps } from '../../../../src/engine/browser/journal/script-steps.ts'
import { entryOf } from '../../../support/journal-entries.ts'

const click = (selector: string, tabs: [number, number], more = {}) =>
  entryOf('click', { selector }, { tabs, elements: [[selector]], ...more })

test('a tab that opens after its click has ended is that of the click', () => {
  const steps = scriptSteps([click('#open', [1, 1]), click('#accept', [2, 2])])
  expect(steps).toMatchObject([{ opensTab: true, tab: 2 }, {}])
  expect(steps[1]).not.toHaveProperty('opensTab')
})

test('a known tab, and one that a person opened, is that of no command', () => {
  const known = [click('#open', [1, 2]), click('#a', [1, 1]), click('#b', [2, 2])]
  const ofPerson = [click('#a', [1, 1]), click('#b', [2, 2], { isAfterPerson: true })]
  expect(scriptSteps(known).map(({ opensTab }) => opensTab)).toEqual([true, undefined, undefined])
  expect(scriptSteps(ofPerson).map(({ opensTab }) => opensTab)).toEqual([undefined, undefined])
})
