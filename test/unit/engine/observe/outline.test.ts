import { describe, expect, test } from 'vitest'
import type { AriaNode, Mark } from '../../../../src/engine/browser/observe/aria.ts'
import { nodesWithRef } from '../../../../src/engine/browser/observe/aria.ts'
import { renderLines } from '../../../../src/engine/browser/observe/lines.ts'
import { outline, wholeTree } from '../../../../src/engine/browser/observe/outline.ts'

const plain: Mark = {
  box: { x: 0, y: 0, width: 10, height: 10 },
  away: 0,
  usable: false,
  secret: false,
  focused: false,
  modal: false,
  dead: false,
  frames: [],
}

/** The snapshot of a tree; every reference keeps its name. */
function drawn(make: typeof outline, tree: readonly AriaNode[], marks: Record<string, Partial<Mark>> = {}): string {
  const all = new Map([...nodesWithRef(tree)].map(({ ref }) => [ref, { ...plain, ...marks[ref] }]))
  return renderLines(make(tree, all), new Map([...all.keys()].map((ref) => [ref, ref]))).join('\n')
}

const button = (name: string, ref: string): AriaNode => ({ role: 'button', name, ref })

describe('the outline', () => {
  test('drops text that belongs to no control and keeps the text of a list item that has one', () => {
    const tree: AriaNode[] = [
      { role: 'paragraph', ref: 'e1', text: 'Long introduction' },
      {
        role: 'list',
        ref: 'e2',
        children: [
          { role: 'listitem', ref: 'e3', children: ['Assam, 4 EUR', button('Buy', 'e4')] },
          { role: 'listitem', ref: 'e5', text: 'Sold out' },
        ],
      },
    ]
    expect(drawn(outline, tree)).toBe('- listitem "Assam, 4 EUR":\n  - button "Buy" [ref=e4]')
  })

  test('text beside controls stands before them, unless their names say it', () => {
    const tree: AriaNode[] = [
      {
        role: 'generic',
        ref: 'e1',
        children: ['Quantity', { role: 'textbox', name: 'Quantity', ref: 'e2', text: '1' }],
      },
      { role: 'generic', ref: 'e3', children: ['12 EUR', button('Add', 'e4')] },
    ]
    expect(drawn(outline, tree)).toBe('- textbox "Quantity" [ref=e2]: "1"\n- text: 12 EUR\n- button "Add" [ref=e4]')
  })

  test('a link whose name is its content is named by it', () => {
    const tree: AriaNode[] = [
      { role: 'link', ref: 'e1', children: [{ role: 'heading', ref: 'e2', name: 'News', level: 2 }, 'of today'] },
    ]
    expect(drawn(outline, tree)).toBe('- link "News of today" [ref=e1]')
  })

  test('a heading that is a link says its text once', () => {
    const tree: AriaNode[] = [
      { role: 'heading', level: 2, name: 'News', ref: 'e1', children: [{ role: 'link', name: 'News', ref: 'e2' }] },
    ]
    expect(drawn(outline, tree)).toBe('- heading [level=2]:\n  - link "News" [ref=e2]')
  })

  test('a password is never shown, a long list of options in short', () => {
    const options = Array.from({ length: 12 }, (_, at): AriaNode => ({
      role: 'option',
      name: `C${at}`,
      ...(at === 3 && { selected: true }),
    }))
    const tree: AriaNode[] = [
      { role: 'textbox', name: 'Password', ref: 'e1', text: 'hunter2' },
      { role: 'combobox', name: 'Country', ref: 'e2', children: options },
    ]
    expect(drawn(outline, tree, { e1: { secret: true } })).toBe(
      '- textbox "Password" [ref=e1]: ••••••••\n- combobox "Country" [options=C0 | C1 | C2 | C3 | C4 | C5 | C6 | C7 | C8 | C9 | 2 more] [ref=e2]: C3',
    )
  })

  test('what takes clicks by style or script is a control, what is inert is none', () => {
    const tree: AriaNode[] = [
      { role: 'generic', ref: 'e1', text: 'Card', cursor: 'pointer' },
      { role: 'generic', ref: 'e2', text: 'Editor' },
      { role: 'generic', ref: 'e3', text: 'Plain' },
      button('Behind the dialog', 'e4'),
    ]
    expect(drawn(outline, tree, { e2: { usable: true }, e4: { dead: true } })).toBe(
      '- generic "Card" [ref=e1]\n- generic "Editor" [ref=e2]',
    )
  })

  test('alerts and dialogs keep their text; empty landmarks go', () => {
    const tree: AriaNode[] = [
      { role: 'navigation', ref: 'e1', children: [] },
      { role: 'alert', ref: 'e2', text: 'Saved: 2 files' },
      { role: 'dialog', name: 'Sure?', ref: 'e3', children: ['It cannot be undone', button('Delete', 'e4')] },
    ]
    expect(drawn(outline, tree)).toBe(
      '- alert: "Saved: 2 files"\n- dialog "Sure?":\n  - text: It cannot be undone\n  - button "Delete" [ref=e4]',
    )
  })

  test('names that YAML would trip over are quoted', () => {
    const tree = [button('Say: "hi"', 'e1'), button("it's #1", 'e2')]
    expect(drawn(outline, tree)).toBe(`- 'button "Say: \\"hi\\"" [ref=e1]'\n- 'button "it''s #1" [ref=e2]'`)
  })
})

test('the whole tree shows every text and gives every role its reference', () => {
  const tree: AriaNode[] = [
    {
      role: 'main',
      ref: 'e1',
      children: [
        { role: 'heading', level: 1, name: 'Tea', ref: 'e2' },
        { role: 'paragraph', ref: 'e3', children: ['See ', { role: 'link', name: 'all', ref: 'e4' }, ' teas'] },
        { role: 'generic', ref: 'e5', text: 'Loose' },
        { role: 'img', name: 'A cup', ref: 'e6' },
      ],
    },
  ]
  expect(drawn(wholeTree, tree)).toBe(`- main [ref=e1]:
  - heading "Tea" [level=1] [ref=e2]
  - paragraph [ref=e3]:
    - text: See
    - link "all" [ref=e4]
    - text: teas
  - text: Loose
  - img "A cup" [ref=e6]`)
})
