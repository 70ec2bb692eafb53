import { describe, expect, test } from 'vitest'
import type { AriaNode, Mark } from '../../../../src/engine/browser/observe/snapshot/aria.ts'
import { nodesWithRef } from '../../../../src/engine/browser/observe/snapshot/aria.ts'
import { linesOf, renderLines } from '../../../../src/engine/browser/observe/snapshot/lines.ts'
import { outline } from '../../../../src/engine/browser/observe/snapshot/outline.ts'
import { pageView } from '../../../../src/engine/browser/observe/snapshot/page-view.ts'

const plain: Mark = {
  box: { x: 0, y: 0, width: 10, height: 10 },
  away: 0,
  usable: false,
  secret: false,
  focused: false,
  modal: false,
  blocked: false,
  editor: false,
  decoy: false,
  outside: false,
  frames: [],
}

/** The snapshot of a tree; every reference keeps its name. */
function drawn(make: typeof outline, tree: readonly AriaNode[], marks: Record<string, Partial<Mark>> = {}): string {
  const all = new Map([...nodesWithRef(tree)].map(({ ref }) => [ref, { ...plain, ...marks[ref] }]))
  return renderLines(linesOf(make(tree, all), all), new Map([...all.keys()].map((ref) => [ref, ref]))).join('\n')
}

const button = (name: string, ref: string): AriaNode => ({ role: 'button', name, ref })

describe('outline', () => {
  test('drops text without a control, and keeps the text of list items with one', () => {
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

  test('puts text before the controls beside it, unless their names contain it', () => {
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

  test('names a link by its content', () => {
    const tree: AriaNode[] = [
      { role: 'link', ref: 'e1', children: [{ role: 'heading', ref: 'e2', name: 'News', level: 2 }, 'of today'] },
    ]
    expect(drawn(outline, tree)).toBe('- link "News of today" [ref=e1]')
  })

  test('shows the text of a heading that is a link once', () => {
    const tree: AriaNode[] = [
      { role: 'heading', level: 2, name: 'News', ref: 'e1', children: [{ role: 'link', name: 'News', ref: 'e2' }] },
    ]
    expect(drawn(outline, tree)).toBe('- heading [level=2]:\n  - link "News" [ref=e2]')
  })

  test('hides passwords, and shortens long lists of options', () => {
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

  test('treats elements with click handlers or pointer cursor as controls; inert ones come last', () => {
    const tree: AriaNode[] = [
      { role: 'generic', ref: 'e1', text: 'Card', cursor: 'pointer' },
      { role: 'generic', ref: 'e2', text: 'Editor' },
      { role: 'generic', ref: 'e3', text: 'Plain' },
      button('Behind the dialog', 'e4'),
    ]
    expect(drawn(outline, tree, { e2: { usable: true }, e4: { blocked: true } })).toBe(
      '- generic "Card" [ref=e1]\n- generic "Editor" [ref=e2]\n# out of reach, behind an open dialog or inert:\n- button "Behind the dialog" [ref=e4]',
    )
  })

  test('keeps the text of alerts and dialogs, and drops empty landmarks', () => {
    const tree: AriaNode[] = [
      { role: 'navigation', ref: 'e1', children: [] },
      { role: 'alert', ref: 'e2', text: 'Saved: 2 files' },
      { role: 'dialog', name: 'Sure?', ref: 'e3', children: ['It cannot be undone', button('Delete', 'e4')] },
    ]
    expect(drawn(outline, tree)).toBe(
      '- alert: "Saved: 2 files"\n- dialog "Sure?":\n  - text: It cannot be undone\n  - button "Delete" [ref=e4]',
    )
  })

  test('quotes names that are not plain YAML', () => {
    const tree = [button('Say: "hi"', 'e1'), button("it's #1", 'e2')]
    expect(drawn(outline, tree)).toBe(`- 'button "Say: \\"hi\\"" [ref=e1]'\n- 'button "it''s #1" [ref=e2]'`)
  })
})

describe('page view', () => {
  test('shows every text in document order, controls with references', () => {
    const tree: AriaNode[] = [
      {
        role: 'main',
        ref: 'e1',
        children: [
          { role: 'heading', level: 1, name: 'Tea', ref: 'e2' },
          { role: 'paragraph', ref: 'e3', children: ['See ', { role: 'link', name: 'all', ref: 'e4' }, ' teas'] },
          { role: 'paragraph', ref: 'e5', children: ['Very', { role: 'strong', ref: 'e6', text: 'good' }, 'tea'] },
          { role: 'img', name: 'A cup', ref: 'e7' },
        ],
      },
      { role: 'text', text: 'Loose' },
    ]
    expect(drawn(pageView, tree)).toBe(`- main:
  - heading "Tea" [level=1]
  - text: See
  - link "all" [ref=e4]
  - text: teas
  - text: Very good tea
  - img "A cup"
- text: Loose`)
  })

  test('keeps text even if a name contains the same letters elsewhere', () => {
    const tree: AriaNode[] = [
      {
        role: 'button',
        name: 'Buy 12 cups',
        ref: 'e1',
        children: [{ role: 'generic', ref: 'e2', text: '1' }, '2', '2'],
      },
      {
        role: 'generic',
        ref: 'e3',
        cursor: 'pointer',
        children: [
          {
            role: 'table',
            ref: 'e4',
            children: [
              {
                role: 'row',
                ref: 'e5',
                children: [
                  { role: 'cell', name: 'Sum', ref: 'e6' },
                  { role: 'cell', name: '12 EUR', ref: 'e7' },
                ],
              },
            ],
          },
        ],
      },
    ]
    expect(drawn(pageView, tree)).toBe(`- button "Buy 12 cups" [ref=e1]: 2 2
- generic [ref=e3]:
  - table:
    - row: Sum | 12 EUR`)
  })

  test('shows a row as one line of cells, or as its controls with the cells between them', () => {
    const cell = (name: string, ref: string): AriaNode => ({ role: 'cell', name, ref })
    const tree: AriaNode[] = [
      {
        role: 'table',
        ref: 'e1',
        children: [
          {
            role: 'row',
            ref: 'e2',
            name: 'Assam 4 EUR',
            children: [cell('Assam', 'e3'), cell('', 'e4'), cell('4 EUR', 'e5')],
          },
          {
            role: 'row',
            ref: 'e6',
            children: [
              cell('Ceylon', 'e7'),
              cell('5 EUR', 'e8'),
              { role: 'cell', ref: 'e9', children: [button('Buy', 'e10')] },
              cell('late', 'e11'),
            ],
          },
        ],
      },
    ]
    expect(drawn(pageView, tree)).toBe(`- table:
  - row: Assam | | 4 EUR
  - row:
    - text: Ceylon | 5 EUR
    - button "Buy" [ref=e10]
    - text: late`)
  })

  test('includes names, legends, placeholders and values of fields and editors', () => {
    const tree: AriaNode[] = [
      {
        role: 'group',
        name: 'Delivery',
        ref: 'e1',
        children: [{ role: 'radio', name: 'Post', ref: 'e2', checked: true }],
      },
      { role: 'textbox', name: 'Name', placeholder: 'First and last', ref: 'e3', text: 'Ann' },
      { role: 'textbox', placeholder: 'Search', ref: 'e4' },
      { role: 'textbox', name: 'Body', ref: 'e5' },
      { role: 'generic', ref: 'e6', children: ['Write', { role: 'strong', ref: 'e7', text: 'here' }] },
      { role: 'textbox', ariaHidden: true, ref: 'e8' },
    ]
    const marks = { e5: { editor: true, content: 'Dear all' }, e6: { editor: true, usable: true }, e8: { decoy: true } }
    expect(drawn(pageView, tree, marks)).toBe(`- group "Delivery":
  - radio "Post" [checked] [ref=e2]
- textbox "Name" [placeholder="First and last"] [ref=e3]: Ann
- textbox "Search" [ref=e4]
- textbox "Body" [ref=e5]: Dear all
- textbox [ref=e6]: Write here`)
  })

  test('names an editor by its field without a box', () => {
    const tree: AriaNode[] = [
      {
        role: 'code',
        ref: 'e1',
        children: [
          { role: 'textbox', name: 'Editor content' },
          { role: 'generic', ref: 'e2', text: 'let a' },
        ],
      },
    ]
    expect(drawn(pageView, tree, { e1: { editor: true, usable: true } })).toBe(
      '- textbox "Editor content" [ref=e1]: let a',
    )
  })

  test('lists content behind a dialog last, and keeps the dialog in place', () => {
    const tree: AriaNode[] = [
      {
        role: 'main',
        ref: 'e1',
        children: [
          'Behind',
          button('Delete', 'e2'),
          { role: 'dialog', name: 'Sure?', ref: 'e3', children: [button('Yes', 'e4')] },
        ],
      },
    ]
    const marks = { e2: { blocked: true }, e3: { modal: true }, e4: { modal: true } }
    expect(drawn(pageView, tree, marks)).toBe(`- main:
  - dialog "Sure?":
    - button "Yes" [ref=e4]
# out of reach, behind an open dialog or inert:
- text: Behind
- button "Delete" [ref=e2]`)
  })

  test('counts the options of long lists', () => {
    const children = Array.from({ length: 12 }, (_, at): AriaNode => ({ role: 'option', name: `C${at}` }))
    const tree: AriaNode[] = [
      { role: 'combobox', name: 'Country', ref: 'e1', children: [{ role: 'group', name: 'Near', children }] },
    ]
    const [line] = linesOf(pageView(tree, new Map([['e1', plain]])), new Map([['e1', plain]]))
    expect(line).toMatchObject({ head: expect.stringContaining('[options=Near: C0 | C1 |'), hiddenOptions: 2 })
  })
})
