/** Recording what a person means in pages whose controls, editors and drags are drawn by libraries. */
import { join } from 'node:path'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { type Recorded, startRecording } from '../support/recorder.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

/** Collects what has happened in the page. */
const seen = `<script>var seen = []; function add(text) { document.title = seen[seen.push(text) - 1] }</script>`

/** A menu that opens on a press, under a layer that takes the release, and lists that close on a press. */
const menus = `<!doctype html><title>Menus</title>${seen}<style>#layer {position: fixed; inset: 0}</style>
  <div id=select role=combobox aria-label=Status aria-expanded=false tabindex=0 style="width:100px;height:20px;border:1px solid">None</div>
  <input aria-label=City><ul id=cities role=listbox hidden></ul>
  <span hidden>Copy</span><span onclick="add('copied')">Copy</span>
  <script>
    const select = document.querySelector('#select')
    select.onmousedown = () => {
      document.body.insertAdjacentHTML('beforeend', '<div id=layer><ul role=listbox aria-label=Status style="margin-top:100px"><li role=option><span>Draft</span><li role=option><span>Live</span></ul></div>')
      select.setAttribute('aria-hidden', 'true')
      const layer = document.querySelector('#layer')
      layer.onclick = ({target}) => {
        const option = target.closest('li')
        if (!option) return
        select.textContent = option.textContent
        select.removeAttribute('aria-hidden')
        layer.remove()
        add('status ' + option.textContent)
      }
    }
    const [input] = document.getElementsByTagName('input')
    const cities = document.querySelector('#cities')
    input.oninput = () => {
      cities.hidden = false
      cities.innerHTML = ['Rome', 'Romont'].map((name) => '<li role=option>' + name).join('')
    }
    cities.onmousedown = (event) => {
      event.preventDefault()
      input.value = event.target.textContent
      cities.replaceChildren()
      add('city ' + input.value)
    }
  </script>`

const switches = `<!doctype html><title>Switches</title>${seen}<style>
  .clear {opacity: 0; position: absolute} .none {width: 0; height: 0; opacity: 0; margin: 0}   .box {display: inline-flex} .core {display: inline-block; width: 40px; height: 20px; background: #ccc}</style>
  <div class=box><input class=none type=checkbox role=switch aria-label=Wi-Fi><span class=core id=core></span></div>
  <label id=label><input class=none type=checkbox aria-label=Terms><span>I accept</span></label>
  <div role=switch aria-checked=false aria-label=Dark tabindex=0 class=core></div>
  <div><input type=radio name=size class=clear aria-label=Large id=large><label for=large>Large size</label></div>
  <script>
    const [wifi, terms] = document.querySelectorAll('input')
    core.parentElement.onclick = () => { wifi.checked = !wifi.checked; add('wifi ' + wifi.checked) }
    label.onclick = (event) => { event.preventDefault(); setTimeout(() => add('terms ' + terms.checked)); Promise.resolve().then(() => (terms.checked = !terms.checked)) }
    const dark = document.querySelector('div[role=switch]')
    dark.onclick = () => { dark.ariaChecked = String(dark.ariaChecked === 'false'); add('dark ' + dark.ariaChecked) }
    large.onchange = () => add('large')
  </script>`

/** An editor that prevents what the browser would do, as most do, and one with formats. */
const editors = `<!doctype html><title>Editors</title>${seen}
  <div id=own contenteditable aria-label=Own role=textbox style="min-height:20px;border:1px solid"></div>
  <div id=rich contenteditable aria-label=Rich role=textbox style="border:1px solid">Hello</div>
  <button onmousedown="event.preventDefault()" onclick="document.execCommand('bold')">Bold</button>
  <button onclick="add(own.textContent + '|' + rich.innerHTML)">Save</button>
  <script>
    own.addEventListener('beforeinput', (event) => {
      event.preventDefault()
      if (event.data) own.append(event.data)
    })
    own.addEventListener('keydown', (event) => {
      if (event.key !== 'Backspace') return
      event.preventDefault()
      own.textContent = own.textContent.slice(0, -1)
    })
  </script>`

/** A board whose drags show a copy and a place, and blocks that are dropped into a frame. */
const drags = `<!doctype html><title>Drags</title>${seen}<style>.day {float: left; width: 80px; height: 80px; border: 1px solid; position: relative} .card {width: 40px; height: 20px; background: #cfc; touch-action: none; user-select: none}</style>
  <div class=day data-testid=mon><div class=card id=card>Card</div></div><div class=day data-testid=tue></div><div class=day data-testid=wed></div>
  <p id=block draggable=true style="clear:both;width:80px">Block</p>
  <iframe title=Canvas srcdoc="<p id=place>Drop here</p><script>ondragover = (event) => event.preventDefault(); ondrop = (event) => { event.preventDefault(); parent.add('dropped ' + event.dataTransfer.getData('text/plain') + ' on ' + event.target.id) }</script>"></iframe>
  <script>
    let copy, place
    card.onpointerdown = (event) => { card.setPointerCapture(event.pointerId); copy = undefined }
    card.onpointermove = ({buttons, clientX, clientY}) => {
      if (!buttons) return
      if (!copy) {
        copy = Object.assign(document.createElement('div'), {className: 'copy', style: 'position:fixed;width:60px;height:60px;background:#fcc'})
        place = Object.assign(document.createElement('div'), {className: 'place', style: 'position:absolute;inset:0;background:#ccf'})
        document.body.append(copy)
      }
      copy.style.left = clientX - 30 + 'px'
      copy.style.top = clientY - 30 + 'px'
      document.elementsFromPoint(clientX, clientY).find((element) => element.matches('.day'))?.append(place)
    }
    card.onpointerup = () => {
      const day = place?.parentElement
      copy?.remove()
      place?.remove()
      day?.append(card)
      if (day) add('card on ' + day.dataset.testid)
    }
    block.ondragstart = ({dataTransfer}) => dataTransfer.setData('text/plain', 'block')
  </script>`

/**
 * An editor of web pages: it writes the document of a frame, fills it with elements of its own document, places what is
 * dragged in between two moves, and makes the text under a double click editable. IDs differ each time.
 */
const builder = `<!doctype html><title>Builder</title>${seen}<p id=block draggable=true style="width:80px">Block</p><iframe></iframe><iframe></iframe>
  <script>
    const frame = document.querySelector('iframe').contentDocument
    frame.open()
    frame.write('<!doctype html><body></body>')
    frame.close()
    let edited, selected
    const insert = (name, text) => {
      const element = Object.assign(document.createElement(name), {textContent: text, id: 'i' + Math.random().toString(36).slice(2, 5)})
      frame.body.append(element)
      element.ondblclick = () => {
        element.contentEditable = 'true'
        element.focus()
        edited = element
      }
      return element
    }
    insert('h1', 'Welcome')
    const text = insert('p', 'First text')
    let place, drawn
    block.ondragstart = ({dataTransfer}) => dataTransfer.setData('text/plain', 'block')
    frame.ondragover = (event) => {
      event.preventDefault()
      if (drawn) place = event.target
      requestAnimationFrame(() => (drawn = true))
    }
    frame.ondrop = (event) => {
      event.preventDefault()
      if (place) insert('p', 'Dropped')
      add('dropped on ' + place?.localName)
    }
    frame.onclick = ({target}) => {
      selected = target
      if (!edited || target === edited) return
      edited.contentEditable = 'false'
      add('text ' + edited.textContent)
      edited = undefined
    }
    frame.onkeydown = ({key}) => {
      if (key !== 'Delete' || selected.isContentEditable) return
      selected.remove()
      add('deleted ' + selected.textContent)
    }
  </script>`

/** Elements that take dropped files: one under a layer that the page shows for the drag, and one with an input for it. */
const files = `<!doctype html><title>Files</title>${seen}<style>#layer {position: fixed; inset: 0} p {height: 40px; position: relative}</style>
  <p id=zone>Drop here</p><p id=late>Or here</p><p id=dead>Not here</p><label>Letter <input type=file id=letter></label><div id=layer hidden></div>
  <script>
    const shown = document.querySelector('#layer')
    ondragenter = () => {
      if (document.querySelector('#cover')) return
      shown.hidden = false
      late.insertAdjacentHTML('beforeend', '<input type=file multiple id=cover style="position:absolute;inset:0;opacity:0">')
      cover.onchange = () => add('late ' + [...cover.files].map(({name}) => name))
    }
    ondragover = (event) => event.target.type === 'file' || event.preventDefault()
    shown.ondrop = (event) => {
      event.preventDefault()
      cover.remove()
      shown.remove()
      add('zone ' + event.dataTransfer.files[0].name)
    }
    letter.onchange = () => add('letter ' + letter.files[0].name)
  </script>`

/** A frame that takes dropped files, and a place for them that is shown after the first drop. */
const framed = `<!doctype html><title>Framed</title>${seen}<body style="margin:0"><p id=edge style="height:40px;margin:0">Edge</p>
  <iframe srcdoc="<p id=place>Frame</p><script>ondragover = (event) => event.preventDefault(); ondrop = (event) => { event.preventDefault(); parent.add('frame ' + event.dataTransfer.files[0].name); parent.fresh.hidden = false }</script>"></iframe>
  <p id=fresh hidden style="height:40px">New place</p>
  <script>
    ondragover = (event) => event.preventDefault()
    ondrop = (event) => { event.preventDefault(); add(event.target.id + ' ' + event.dataTransfer.files[0].name) }
  </script>`

/** A text with a button in it, and a text area in which Enter sends. */
const texts = `<!doctype html><title>Texts</title>${seen}<p onclick="add('text')">Press <button>Buy</button> now</p>
  <textarea aria-label=Note></textarea>
  <script>
    const note = document.querySelector('textarea')
    note.onkeydown = (event) => { if (event.key === 'Enter') { event.preventDefault(); add('note ' + note.value) } }
  </script>`

/** Two forms without names, one of which has another ID each time. */
const generated = `<!doctype html><title>Generated</title>${seen}<form><textarea></textarea></form>
  <form><textarea onchange="add(value)"></textarea></form>
  <script>document.forms[1].id = 'rows_' + Math.floor(1e8 + 9e8 * Math.random())</script>`

/** Names with counts that are others each time, except those of two chapters, which differ in nothing else. */
const counts = `<!doctype html><title>Counts</title>${seen}
  <button>Inbox (N)</button><button>Inbox of Ada (N)</button><button>Cart, N items</button><p>Sent (N)</p>
  <button>Chapter (1)</button><button>Chapter (2)</button>
  <script>for (const element of document.querySelectorAll('button, p')) {
    element.onclick = () => add(element.textContent.replace(/[0-9,]{5}/, 'N'))
    element.textContent = element.textContent.replace('N', (1000 + Math.floor(9000 * Math.random())).toLocaleString('en'))
  }</script>`

/** A table with a filter in its head, and links that have a tooltip while the pointer is on them. */
const table = `<!doctype html><title>Table</title>${seen}<style>p {position: fixed; top: 200px}</style>
  <table><tr><td>Filter rows <input placeholder=Search><td>Key
  <tr><td>Assam<td><a href=#>Edit</a><tr><td>Oolong<td><a href=#>Edit</a></table>
  <ul>${['Milk', 'Tea', 'Milk tea'].map((name, at) => `<li>${'Drink '.repeat(20)}<b>${name}</b> ${at} <ul><li><button>Done</button></ul>`).join('')}</ul>
  <input placeholder=Search>
  <script>
    const [filter] = document.getElementsByTagName('input')
    const rows = [...document.querySelectorAll('tr')].slice(1)
    filter.oninput = () => { for (const row of rows) row.hidden = !row.textContent.includes(filter.value) }
    for (const button of document.querySelectorAll('button')) button.onclick = () => add(button.closest('li:has(b)').children[0].textContent)
    for (const link of document.links) {
      link.onmouseenter = () => {
        link.setAttribute('aria-describedby', 'tip')
        document.body.insertAdjacentHTML('beforeend', '<p role=tooltip id=tip>Or click twice</p>')
      }
      link.onmouseleave = () => { link.removeAttribute('aria-describedby'); tip.remove() }
      link.onclick = () => add('edits ' + link.closest('tr').cells[0].textContent + ' ' + filter.value)
    }
  </script>`

/** A list that is filtered some time after the input, a URL that is replaced, and a page that loads itself again. */
const lists = `<!doctype html><title>Lists</title>${seen}<input aria-label=Filter>
  <button id=list onclick="setTimeout(() => history.replaceState(null, '', '?view=list'), 2100)">List</button>
  <button id=again onclick="fetch('/late').then(({ok}) => ok && location.reload())">Again</button>
  <ul><li>Hello <button>Edit</button><li>World <button>Edit</button></ul>
  <canvas width=200 height=100></canvas>
  <script>
    const [input] = document.getElementsByTagName('input')
    input.oninput = () => setTimeout(() => { for (const row of document.querySelectorAll('li')) row.hidden = !row.textContent.includes(input.value) }, 300)
    for (const row of document.querySelectorAll('li')) row.onclick = () => add('edits ' + row.firstChild.data.trim())
    document.querySelector('canvas').onclick = ({offsetX, offsetY}) => add('plan ' + offsetX + ' ' + offsetY)
    if (performance.getEntriesByType('navigation')[0].type === 'reload') document.title = 'Loaded again'
  </script>`

/** Whether the page has loaded itself again, which it does once: a replay would be interrupted by it anywhere. */
let isLoadedAgain = false

let homes: Homes
let site: Site
let folder: ScriptFolder
beforeAll(async () => {
  ;[homes, folder] = await Promise.all([openHomes(), scriptFolder()])
  site = await serveSite({
    '/menus': menus,
    '/switches': switches,
    '/builder': builder,
    '/editors': editors,
    '/files': files,
    '/drags': drags,
    '/framed': framed,
    '/texts': texts,
    '/table': table,
    '/lists': lists,
    '/generated': generated,
    '/counts': counts,
    '/late': (_request, response) => {
      if (isLoadedAgain) response.statusCode = 404
      if (isLoadedAgain) return response.end()
      isLoadedAgain = true
      setTimeout(() => response.end(), 2100)
    },
  })
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await folder.close()
})

type Steps = { steps: Record<string, unknown>[] }

/** Records what `use` does on a page, and replays it; returns the steps without fingerprints, and what both pages have seen. */
async function recordAndRun(name: string, use: (page: Page, recording: Recorded) => Promise<void>) {
  const recording = await startRecording(homes, folder.path, [`${site.url}/${name}`, '--verify'], `${name}.yaml`)
  const { page } = recording
  await use(page, recording)
  const recorded = await page.evaluate('seen.join()')
  expect(await recording.end()).toMatchObject({ code: 0, stderr: expect.stringContaining('verified: ') as string })
  const script = await recording.script()
  await folder.write(
    `${name}-again.yaml`,
    `${script}  - evaluate: seen.join()\n    expect: {equals: ${JSON.stringify(recorded)}}\n`,
  )
  const { code, stdout } = await bax(['run', `${name}-again.yaml`], {
    cwd: folder.path,
    env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: homes.stateDir },
  })
  expect([code, code === 0 ? '' : stdout + script]).toEqual([0, ''])
  const { steps } = parse(script) as Steps
  const plain = steps.map((step) => Object.fromEntries(Object.entries(step).filter(([key]) => key !== 'fingerprint')))
  return { steps: plain.slice(1), recorded }
}

/** Presses and releases the mouse in two steps, as a person does. */
async function tap(page: Page, target: Locator): Promise<void> {
  const { x, y, width, height } = (await target.boundingBox())!
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  await page.mouse.up()
}

async function drag(page: Page, from: Locator, target: Locator): Promise<void> {
  const [start, end] = [(await from.boundingBox())!, (await target.boundingBox())!]
  await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2)
  await page.mouse.down()
  const to = [end.x + end.width / 2, end.y + end.height / 2] as const
  await page.mouse.move(...to, { steps: 12 })
  // Pages that place the element between two moves have drawn something then.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  await page.mouse.move(...to)
  await page.mouse.up()
}

describe('a recorded script', () => {
  test('chooses options by role and name, whatever the press has opened or closed', async () => {
    const { steps, recorded } = await recordAndRun('menus', async (page) => {
      await tap(page, page.getByRole('combobox'))
      await tap(page, page.getByText('Live'))
      await tap(page, page.getByLabel('City'))
      await page.keyboard.type('Ro')
      await tap(page, page.getByText('Romont'))
      await tap(page, page.getByText('Copy').last())
      await page.waitForFunction('seen.length === 3')
    })
    expect(recorded).toBe('status Live,city Romont,copied')
    expect(steps).toEqual([
      { click: 'role=combobox[name="Status"]' },
      { click: 'role=option[name="Live"]' },
      { click: 'role=textbox[name="City"]' },
      { fill: { selector: 'role=textbox[name="City"]', text: 'Ro' } },
      { click: 'role=option[name="Romont"]' },
      { click: 'text=Copy >> visible=true' },
    ])
  })

  test('sets checkboxes, radio buttons and switches, whatever is drawn in their place', async () => {
    const { steps, recorded } = await recordAndRun('switches', async (page) => {
      const core = page.locator('#core')
      const dark = page.locator('div[role=switch]')
      const controls = [core, page.getByText('I accept'), dark, page.getByText('Large size'), core]
      for (const [at, control] of controls.entries()) {
        await tap(page, control)
        // Chromium handles the next input before timers of the page.
        await page.waitForFunction(`seen.length === ${at + 1}`)
      }
    })
    expect(recorded).toBe('wifi true,terms true,dark true,large,wifi false')
    expect(steps).toEqual([
      { check: 'role=switch[name="Wi-Fi"]' },
      { check: 'role=checkbox[name="Terms"]' },
      { check: 'role=switch[name="Dark"]' },
      { check: 'role=radio[name="Large"]' },
      { uncheck: 'role=switch[name="Wi-Fi"]' },
    ])
  })

  test('types into editors that handle the input themselves, and keeps formats', async () => {
    const { steps, recorded } = await recordAndRun('editors', async (page) => {
      await tap(page, page.getByLabel('Own'))
      await page.keyboard.type('texts')
      await page.keyboard.press('Backspace')
      await tap(page, page.getByLabel('Rich'))
      await page.keyboard.press('Control+a')
      await tap(page, page.getByRole('button', { name: 'Bold' }))
      await page.keyboard.press('End')
      await page.keyboard.type(' you')
      await tap(page, page.getByRole('button', { name: 'Save' }))
      await page.waitForFunction('seen.length === 1')
    })
    expect(recorded).toBe('text|<b>Hello you</b>')
    expect(steps.map((step) => Object.keys(step)[0])).toEqual([
      'click',
      'type_text',
      'press_key',
      'click',
      'press_key',
      'click',
      'press_key',
      'type_text',
      'click',
    ])
  })

  test('drops on what was there before the drag, also in another frame', async () => {
    const { steps, recorded } = await recordAndRun('drags', async (page, { contains }) => {
      await drag(page, page.locator('#card'), page.getByTestId('wed'))
      await contains('drag_to')
      await drag(page, page.locator('#block'), page.frameLocator('iframe').locator('#place'))
      await contains('frame=')
      await page.waitForFunction('seen.length === 2')
    })
    expect(recorded).toBe('card on wed,dropped block on place')
    expect(steps).toMatchObject([
      { drag_to: { selector: 'text=Card', target_selector: '[data-testid="wed"]' } },
      { drag_to: { selector: 'text=Block', target_selector: 'frame=iframe[title="Canvas"] >> text=Drop here' } },
    ])
  })

  test('builds a page in a frame that a script has written, with elements of another document', async () => {
    const { steps, recorded } = await recordAndRun('builder', async (page) => {
      const frame = page.frameLocator('iframe >> nth=0')
      await drag(page, page.locator('#block'), frame.getByText('First text'))
      await page.waitForFunction('seen.length === 1')
      await frame.getByText('Welcome').dblclick()
      await page.keyboard.press('Control+a')
      await page.keyboard.type('Titles')
      await page.keyboard.press('Backspace')
      await tap(page, frame.getByText('First text'))
      await page.keyboard.press('Delete')
      await page.waitForFunction('seen.length === 3')
    })
    expect(recorded).toBe('dropped on p,text Title,deleted First text')
    const inFrame = (selector: string) => `frame=:nth-match(iframe, 1) >> ${selector}`
    expect(steps).toMatchObject([
      { drag_to: { selector: 'text=Block', target_selector: inFrame('text=First text') } },
      { double_click: inFrame('role=heading[name="Welcome"]') },
      { press_key: 'Control+a' },
      { insert_text: 'Titles' },
      { press_key: 'Backspace' },
      { click: inFrame('text=First text') },
      { press_key: 'Delete' },
    ])
  })

  test('drops files on what was there before the drag', async () => {
    await Promise.all(['a.txt', 'b.txt'].map((name) => folder.write(name, name)))
    const { steps, recorded } = await recordAndRun('files', async (page, { contains, sessionId }) => {
      const drop = async (on: string, ...names: string[]) => {
        const argv = ['upload', on, ...names, '--drop', '--server', homes.baseUrl, '-s', sessionId]
        const { code, stderr } = await bax(argv, { cwd: folder.path })
        expect([code, stderr]).toEqual([0, ''])
      }
      await drop('#zone', 'a.txt')
      await contains('text=Drop here')
      await drop('#late', 'a.txt', 'b.txt')
      await drop('#letter', 'b.txt')
      await contains('Letter')
      await page.waitForFunction('seen.length === 3')
    })
    expect(recorded).toBe('zone a.txt,late a.txt,b.txt,letter b.txt')
    expect(steps).toEqual([
      { upload_files: { selector: 'text=Drop here', files: ['a.txt'], drop: true } },
      { upload_files: { selector: 'text=Or here', files: ['a.txt', 'b.txt'], drop: true } },
      { upload_files: { selector: 'role=button[name="Letter"]', files: ['b.txt'] } },
    ])
  })

  test('drops files on what a drop into a frame has shown', async () => {
    await folder.write('a.txt', 'a')
    const { steps, recorded } = await recordAndRun('framed', async (page, { contains, sessionId }) => {
      const client = await page.context().newCDPSession(page)
      const data = { items: [], files: [join(folder.path, 'a.txt')], dragOperationsMask: 1 }
      const frame = (await page.locator('iframe').boundingBox())!
      // A person drags the files over the page into the frame.
      for (const [type, y] of [
        ['dragEnter', 20],
        ['dragOver', 20],
        ['dragOver', frame.y + 20],
        ['dragOver', frame.y + 20],
        ['drop', frame.y + 20],
      ] as const)
        await client.send('Input.dispatchDragEvent', { type, x: 20, y, data })
      await contains('frame=')
      await page.locator('#fresh').waitFor()
      const argv = ['upload', '#fresh', 'a.txt', '--drop', '--server', homes.baseUrl, '-s', sessionId]
      expect(await bax(argv, { cwd: folder.path })).toMatchObject({ code: 0, stderr: '' })
      await contains('New place')
      await page.waitForFunction('seen.length === 2')
    })
    expect(recorded).toBe('frame a.txt,fresh a.txt')
    expect(steps).toEqual([
      { upload_files: { selector: 'frame=iframe >> text=Frame', files: ['a.txt'], drop: true } },
      { upload_files: { selector: 'text=New place', files: ['a.txt'], drop: true } },
    ])
  })

  test('names a text with a button in it, and presses Enter in the text area that was clicked', async () => {
    const { steps, recorded } = await recordAndRun('texts', async (page) => {
      await page.getByText('Press').click({ position: { x: 10, y: 10 } })
      await tap(page, page.getByLabel('Note'))
      await page.keyboard.type('Hello')
      await page.keyboard.press('Enter')
      await page.waitForFunction('seen.length === 2')
    })
    expect(recorded).toBe('text,note Hello')
    const note = 'role=textbox[name="Note"]'
    expect(steps).toEqual([
      { click: 'text=Press Buy now' },
      { click: note },
      { fill: { selector: note, text: 'Hello' } },
      { press_key: { selector: 'role=textbox[name*="Note" i]', key: 'Enter' } },
    ])
  })

  test('names elements without the numbers of IDs that the page generates anew', async () => {
    const { steps, recorded } = await recordAndRun('generated', async (page) => {
      await tap(page, page.locator('textarea').nth(1))
      await page.keyboard.type('Hello')
      await page.keyboard.press('Tab')
      await page.waitForFunction('seen.length === 1')
    })
    expect(recorded).toBe('Hello')
    expect(JSON.stringify(steps)).not.toMatch(/rows_\d/)
  })

  test('names elements without counts, unless these tell them apart', async () => {
    const { steps, recorded } = await recordAndRun('counts', async (page) => {
      for (const name of [/^Inbox \(/, 'Inbox of Ada', 'Cart', 'Chapter (2)'])
        await tap(page, page.getByRole('button', { name }))
      await tap(page, page.getByText('Sent'))
      await page.waitForFunction('seen.length === 5')
    })
    expect(recorded).toBe('Inbox (N),Inbox of Ada (N),Cart, N items,Chapter (2),Sent (N)')
    expect(steps).toEqual([
      { click: 'role=button[name*="Inbox (" i]' },
      { click: 'role=button[name*="Inbox of Ada" i]' },
      { click: 'role=button[name*="Cart" i]' },
      { click: 'role=button[name="Chapter (2)"]' },
      { click: 'text=Sent' },
    ])
  })

  test('names a link by the text of its row and without its tooltip, and a field without its new value', async () => {
    const { steps, recorded } = await recordAndRun('table', async (page) => {
      await tap(page, page.getByRole('link', { name: 'Edit' }).nth(1))
      await tap(page, page.getByRole('button').nth(2))
      await tap(page, page.getByPlaceholder('Search').first())
      await page.keyboard.type('Ool')
      await tap(page, page.getByRole('link', { name: 'Edit' }))
      await page.waitForFunction('seen.length === 3')
    })
    expect(recorded).toBe('edits Oolong ,Milk tea,edits Oolong Ool')
    const search = 'role=cell[name*="Filter rows" i] >> [placeholder*="Search" i]'
    expect(steps).toEqual([
      { click: 'role=row[name*="Oolong Edit" i] >> role=link' },
      { click: 'li:has-text("Milk tea") >> role=button[name="Done"]' },
      { click: search },
      { fill: { selector: search, text: 'Ool' } },
      { click: 'role=link[name="Edit"]' },
    ])
  })

  test('waits until a selector matches one element, and has no step for what the page does later', async () => {
    const { steps, recorded } = await recordAndRun('lists', async (page, { contains }) => {
      await tap(page, page.getByText('List', { exact: true }))
      await page.waitForURL('**/lists?view=list')
      await tap(page, page.getByText('Again'))
      await page.waitForFunction(`document.title === 'Loaded again'`)
      await tap(page, page.getByLabel('Filter'))
      await page.keyboard.type('World')
      await page.getByText('Hello').waitFor({ state: 'hidden' })
      await tap(page, page.getByRole('button', { name: 'Edit' }))
      await page.locator('canvas').click({ position: { x: 30, y: 80 } })
      await contains('position')
    })
    expect(recorded).toBe('edits World,plan 30 80')
    expect(steps).toEqual([
      { click: 'role=button[name="List"]' },
      { click: 'role=button[name="Again"]' },
      { click: 'role=textbox[name="Filter"]' },
      { fill: { selector: 'role=textbox[name="Filter"]', text: 'World' } },
      { click: 'role=button[name="Edit"]' },
      { click_advanced: { selector: 'canvas', position: { x: 30, y: 80 } } },
    ])
  })
})
