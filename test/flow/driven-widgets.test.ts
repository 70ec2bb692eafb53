/** Editors, a calendar, a whiteboard and forms of a component library, driven by one-liners and by scripts. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { openDrives } from '../support/driven.ts'
import { type RecordedPage, recordedPage } from '../support/recorded-pages.ts'
import { serveSite, type Site } from '../support/site.ts'

const drives = openDrives()

interface Job {
  /** Command lines after the one that opens the page. */
  readonly lines: readonly (readonly string[])[]
  /** The same as steps of a script. */
  readonly steps: string
  /** JSON of the state that the page must have at the end. */
  readonly state: string
}

const person = {
  Name: 'Ann',
  Agree: true,
  'Wi-Fi': true,
  Colour: 'Blue',
  Status: 'Live',
  Tags: ['Alpha'],
  City: 'Rome',
}
const section = '.gjs-block[title="Section"]'
const text = '.gjs-block[title="Text"]'
const written = 'frame=.gjs-frame >> text=Insert your text here'

const inAntDesign = {
  Name: 'Ann',
  Agree: true,
  'Wi-Fi': true,
  Colour: 'Blue',
  Status: 'Live',
  Tags: ['Alpha', 'Gamma'],
}

const jobs: Partial<Record<RecordedPage, Job>> = {
  antd: {
    lines: [['fill-form', JSON.stringify(inAntDesign)]],
    steps: `
  - fill_form: { fields: ${JSON.stringify(inAntDesign)} }`,
    state: '{"name":"Ann","agree":true,"wifi":true,"colour":"Blue","status":"Live","tags":["Alpha","Gamma"]}',
  },
  calendar: {
    lines: [
      ['dialog', 'accept', 'Trip'],
      ['drag', '[data-date="2026-03-17"]', '[data-date="2026-03-19"]'],
      ['drag', 'text=Standup', '[data-date="2026-03-25"]'],
      ['dialog', 'accept'],
      ['click', 'text=Review'],
    ],
    steps: `
  - answer_dialog: { accept: true, text: Trip }
  - drag_to: { selector: '[data-date="2026-03-17"]', target_selector: '[data-date="2026-03-19"]' }
  - drag_to: { selector: text=Standup, target_selector: '[data-date="2026-03-25"]' }
  - answer_dialog: { accept: true }
  - click: text=Review`,
    state: '[["Standup","2026-03-25",""],["Trip","2026-03-17","2026-03-20"]]',
  },
  element: {
    lines: [
      ['fill-form', JSON.stringify(person)],
      ['uncheck', 'role=checkbox[name="Agree"]'],
      ['select', 'role=combobox[name="Status"]', 'Draft'],
      ['fill', 'role=textbox[name="Name"]', 'Bea'],
    ],
    steps: `
  - fill_form: { fields: ${JSON.stringify(person)} }
  - uncheck: role=checkbox[name="Agree"]
  - select_option: { selector: 'role=combobox[name="Status"]', values: [Draft] }
  - fill: { selector: 'role=textbox[name="Name"]', text: Bea }`,
    state: '{"name":"Bea","agree":false,"wifi":true,"colour":"blue","status":"d","tags":["a"],"city":"Rome"}',
  },
  excalidraw: {
    lines: [
      ['click', 'role=radio[name="Ellipse"]'],
      ['drag', '300,300', '500,400'],
      ['click', 'role=button[name="#e03131"]'],
      ['click', 'role=radio[name="Text"]'],
      ['click-at', '350', '200'],
      ['insert-text', 'Hello board'],
      ['press', 'Escape'],
      ['click', 'role=button[name="Undo"]'],
      ['click', 'role=button[name="Redo"]'],
    ],
    steps: `
  - click: role=radio[name="Ellipse"]
  - drag: { from: { x: 300, y: 300 }, to: { x: 500, y: 400 } }
  - click: role=button[name="#e03131"]
  - click: role=radio[name="Text"]
  - click_at: { x: 350, y: 200 }
  - insert_text: Hello board
  - press_key: Escape
  - click: role=button[name="Undo"]
  - click: role=button[name="Redo"]`,
    state: '[["ellipse",200,"#e03131"],["text","Hello board","#e03131"]]',
  },
  grapes: {
    lines: [
      ['click', '[title="Open Blocks"]'],
      ['drag', section, 'frame=.gjs-frame >> body'],
      ['drag', text, 'frame=.gjs-frame >> text=Words'],
      ['double-click', written],
      ['fill', written, 'Hello'],
      ['press', 'Escape'],
      ['click', 'frame=.gjs-frame >> text=Title'],
      ['press', 'Delete'],
    ],
    steps: `
  - click: '[title="Open Blocks"]'
  - drag_to: { selector: '${section}', target_selector: frame=.gjs-frame >> body }
  - drag_to: { selector: '${text}', target_selector: frame=.gjs-frame >> text=Words }
  - double_click: ${written}
  - fill: { selector: ${written}, text: Hello }
  - press_key: Escape
  - click: frame=.gjs-frame >> text=Title
  - press_key: Delete`,
    state: '"<body><section><div>Hello</div><p>Words</p></section></body>"',
  },
  quill: {
    lines: [
      ['fill', '.ql-editor', 'Hello world'],
      ['press', 'ControlOrMeta+A'],
      ['click', 'role=button[name="bold"]'],
      ['press', 'End'],
      ['press', 'Enter'],
      ['type', '.ql-editor', 'second'],
      ['click', '.ql-header >> role=button[name="Normal"] >> nth=0'],
      ['click', '.ql-header >> role=button[name="Heading 1"]'],
    ],
    steps: `
  - fill: { selector: .ql-editor, text: Hello world }
  - press_key: ControlOrMeta+A
  - click: role=button[name="bold"]
  - press_key: End
  - press_key: Enter
  - type_text: { selector: .ql-editor, text: second }
  - click: .ql-header >> role=button[name="Normal"] >> nth=0
  - click: .ql-header >> role=button[name="Heading 1"]`,
    state: '"<p><strong>Hello world</strong></p><h1>second</h1>"',
  },
}

describe.each(Object.entries(jobs))('%s', (name, { lines, steps, state }) => {
  let site: Site
  beforeAll(async () => {
    site = await serveSite({ '/': await recordedPage(name as RecordedPage) })
  }, 300_000)
  afterAll(() => site.close())
  const isStored = `JSON.stringify(window.state) === ${JSON.stringify(state)}`

  test('does what one-liners say', async () => {
    await drives.lines(['open', site.url], ...lines.map((argv) => [...argv]), ['wait', '--function', isStored])
  })

  test('does what a script says', async () => {
    await drives.runScript(`steps:
  - navigate_to: ${site.url}${steps}
  - wait_for: { function: ${JSON.stringify(isStored)} }
`)
  })
})
