import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { follow } from '../../src/client/client.ts'
import type { StepResult } from '../../src/core/shapes/observe.ts'
import { inUsualHomes } from '../support/commands.ts'
import { failureOf } from '../support/session-steps.ts'
import { waitUntil } from '../support/wait.ts'

/** Requests that are held until a test responds. */
const held: ServerResponse[] = []

const pages = {
  '/': `<!doctype html><title>Start</title>
    <button id=add onclick="document.body.append(Object.assign(document.createElement('button'), {textContent: 'Added'}))">Add</button>
    <button id=later onclick="setTimeout(() => this.after(Object.assign(document.createElement('button'), {textContent: 'Late'})), 60)">Later</button>
    <button id=hold onclick="fetch('/held').then(() => { document.title = 'Loaded'; this.remove() })">Load</button>
    <button id=ask onclick="confirm('Really?')">Ask</button>
    <button id=fail onclick="console.error('went wrong'); fetch('http://127.0.0.1:1/').catch(() => {}); setTimeout(() => { throw new Error('thrown') })">Fail</button>
    <a id=next href=/next>Next</a><a id=pop href=/next target=_blank>Pop</a><a id=file href=/file download>File</a>`,
  '/next': '<!doctype html><title>Next</title><h1>Next</h1><a href=/>Back</a>',
  '/held': (_: unknown, response: ServerResponse) => void held.push(response),
  '/file': (_: unknown, response: ServerResponse) => {
    response.setHeader('content-disposition', 'attachment; filename=report.txt')
    response.end('content')
  },
}

inUsualHomes(pages, (given) => {
  // The default is too short for a busy machine.
  const step = (input: Record<string, unknown>): Promise<StepResult> =>
    given.client().browserStep({ session_id: given.sessionId(), settle_ms: 10_000, ...input } as never)
  const click = (selector: string) => ({ command: 'click', data: { selector } })

  test('returns the page before and after a command, and an observation', async () => {
    await given.open('/')
    const done = await step({ command: click('#next') })
    expect(done).toMatchObject({ success: true, session_id: given.sessionId(), steps_completed: 1, total_steps: 1 })
    expect(done.results[0]).toMatchObject({
      success: true,
      command: 'click',
      index: 0,
      before: { url: given.url('/'), title: 'Start' },
      after: { url: given.url('/next'), title: 'Next' },
      events: [],
    })
    expect(done.observation).toMatchObject({ url: given.url('/next'), title: 'Next', ready_state: 'complete' })
    expect(done.observation!.snapshot).toMatch(/^- heading "Next" \[level=1\]\n- link "Back" \[ref=e\d+\]$/)
    expect(done.changes).toEqual({
      url: given.url('/next'),
      title: 'Next',
      url_changed: true,
      title_changed: true,
      new_page: true,
      texts: { added: [], removed: [], replaced: [] },
      values: [],
      states: [],
      dialogs: [],
      alerts: [],
      focus: null,
      scroll: null,
      downloads: [],
      file_choosers: [],
      tabs_opened: [],
      tabs_closed: [],
      elements_added: 1,
      elements_removed: 8,
    })
  })

  test('accepts a command name with separate data', async () => {
    await given.open('/')
    const done = await step({ command: 'get_attribute', data: { selector: '#next', attribute: 'href' } })
    expect(done.results[0]!.data).toEqual({ result: { type: 'string', value: '/next' } })
    expect(done.changes).toMatchObject({ url_changed: false, elements_added: 0, elements_removed: 0 })
  })

  test('returns the page before and after each command', async () => {
    await given.open('/')
    const done = await step({ commands: [click('#add'), click('#next'), { command: 'get_title' }] })
    expect(done.results.map(({ before, after }) => [before!.title, after!.title])).toEqual([
      ['Start', 'Start'],
      ['Start', 'Next'],
      ['Next', 'Next'],
    ])
  })

  test('waits for delayed effects of an action', async () => {
    await given.open('/')
    expect((await step({ command: click('#later') })).changes).toMatchObject({
      elements_added: 1,
      elements_removed: 0,
    })
  })

  test.each([
    ['light', 'document.body'],
    ['open shadow root', 'host.attachShadow({ mode: "open" })'],
    [
      'later open shadow root',
      '{ append: (node) => (host.shadowRoot ?? host.attachShadow({ mode: "open" })).append(node) }',
    ],
    [
      'nested shadow root',
      `(() => {
      const inner = document.createElement('p')
      host.attachShadow({ mode: 'open' }).append(inner)
      return inner.attachShadow({ mode: 'open' })
    })()`,
    ],
    ['same-origin frame', 'document.body.appendChild(document.createElement("iframe")).contentDocument.body'],
  ])('waits for successive changes in a %s', async (_, root) => {
    await given.open('/')
    // These properties are fields of the form.
    await given.evaluate(`{
      document.body.insertAdjacentHTML('beforeend', '<form><input name=shadowRoot><input name=contentDocument></form><p id=host></p>')
      const root = ${root}
      let left = 8
      const grow = () => {
        root.append(Object.assign(document.createElement('button'), { textContent: 'Part ' + left }))
        if (--left > 0) setTimeout(grow, 40)
      }
      document.getElementById('add').onclick = () => setTimeout(grow, 40)
    }`)
    const { changes } = await step({ command: click('#add') })
    expect(changes).toMatchObject({ elements_added: 8, elements_removed: 0 })
  })

  test('settle_ms 0 does not wait, a longer one waits for the last response', async () => {
    await given.open('/')
    const immediate = await step({ command: click('#hold'), settle_ms: 0 })
    expect(immediate.changes).toMatchObject({ title_changed: false, elements_removed: 0 })
    held.splice(0).forEach((response) => response.end())
    await given.open('/')
    const patientStep = step({ command: click('#hold'), settle_ms: 30_000 })
    await waitUntil(() => held.length === 1)
    held.splice(0).forEach((response) => response.end())
    expect((await patientStep).changes).toMatchObject({ title_changed: true, elements_removed: 1 })
  })

  test('does not wait after commands that only read', async () => {
    await given.open('/')
    // Counts the observers of layout shifts, which only the wait creates.
    await given.evaluate(`{
      const Own = PerformanceObserver
      let waits = 0
      window.PerformanceObserver = class extends Own {
        observe(options) {
          if (options.type === 'layout-shift') document.body.dataset.waits = ++waits
          super.observe(options)
        }
      }
    }`)
    await step({ commands: [{ command: 'get_title' }, { command: 'list_tabs' }] })
    expect(await given.evaluate('document.body.dataset.waits')).toBeNull()
    await step({ command: { command: 'hover', data: { selector: '#add' } } })
    expect(await given.evaluate('document.body.dataset.waits')).not.toBeNull()
  })

  test('reports dialogs, page errors and failed requests with the command that caused them', async () => {
    await given.open('/')
    const { results } = await step({ commands: [click('#add'), click('#ask'), click('#fail')] })
    const types = results.map(({ events }) => events!.map(({ type }) => type))
    expect(types[0]).toEqual([])
    expect(types[1]).toEqual(['dialog.opened', 'dialog.closed'])
    expect(types[2]).toEqual(expect.arrayContaining(['console', 'page.error', 'network.failed']))
    expect(results[1]!.events![1]!.data).toMatchObject({ type: 'confirm', message: 'Really?', accepted: false })
  })

  test('reports new tabs and downloads', async () => {
    await given.open('/')
    const file = await step({ command: click('#file') })
    expect(file.results[0]!.events!.map(({ type }) => type)).toEqual(['download.started', 'download.finished'])
    expect(file.results[0]!.events![1]!.data).toMatchObject({ filename: 'report.txt', success: true, bytes: 7 })
    const { changes, observation, results } = await step({ command: click('#pop') })
    expect(changes.tabs_opened).toEqual([{ tab_id: expect.stringMatching(/^tab_\d+$/), url: given.url('/next') }])
    expect(results[0]!.events!.map(({ type }) => type)).toContain('tab.opened')
    expect(observation).toMatchObject({ title: 'Next' })
    await given.evaluate('window.close()')
    await waitUntil(async () => (await given.client().getSession({ session_id: given.sessionId() })).tabs === 1)
  })

  test('observes the page after a failed command, and skips the rest', async () => {
    await given.open('/')
    const done = await step({
      commands: [{ command: 'select_option', data: { selector: '#add', values: ['x'] } }, click('#next')],
    })
    expect(done).toMatchObject({ success: false, steps_completed: 0, code: 'not_editable' })
    expect(done.results[1]).toMatchObject({ skipped: true, code: 'skipped' })
    expect(done.results[1]).not.toHaveProperty('before')
    expect(done.observation).toMatchObject({ title: 'Start' })
  })

  test('observe selects the observation; screenshot adds a screenshot', async () => {
    await given.open('/')
    const text = await step({ command: 'get_title', observe: { include: ['text'] } })
    expect(text.observation!.text).toContain('Later')
    expect(text.observation).not.toHaveProperty('snapshot')
    const nothing = await step({ command: 'get_title', observe: false })
    expect(nothing).not.toHaveProperty('observation')
    expect(nothing.changes).toMatchObject({ url_changed: false, elements_added: null, elements_removed: null })
    const withScreenshot = await step({ command: 'get_title', screenshot: true })
    expect(withScreenshot.observation!.snapshot).toContain('Later')
    expect(Buffer.from(withScreenshot.observation!.screenshot!, 'base64').subarray(1, 4).toString()).toBe('PNG')
    const bare = await step({ command: 'get_title', observe: false, screenshot: true })
    expect(bare.screenshot).toMatch(/^iVBOR/)
  })

  test('creates a session if none is given', async () => {
    const made = await given.client().browserStep({
      command: { command: 'navigate_to', data: { url: given.url('/next') } },
      headless: true,
    })
    expect(made).toMatchObject({ success: true, observation: { title: 'Next' }, changes: { url_changed: true } })
    expect(made.session_id).not.toBe(given.sessionId())
    await given.client().closeSession({ session_id: made.session_id })
  })

  test('adds context to the events', async () => {
    await given.open('/')
    await step({ command: 'get_title', context: { thread: 't1' } })
    const query = { session_id: given.sessionId(), replay: 'all', types: 'command.started' }
    for await (const event of follow(given.homes().transports.http, 'GET /stream/sse', query)) {
      const { data } = event as unknown as { data: { context?: object } }
      if (!data.context) continue
      expect(data).toEqual({ command: 'get_title', index: 0, context: { thread: 't1' } })
      break
    }
  })

  test('the fields of a command that is a name may be null or in camelCase, and unknown ones are named', async () => {
    await given.open('/')
    const data = { selector: '#next', timeoutMs: null, colour: 'red' }
    const done = await step({ command: 'click', data })
    expect(done).toMatchObject({ success: true, changes: { url_changed: true } })
    expect(done.warning).toBe('ignored unknown field: data.colour')
    const wrong = { selector: '#next', timeoutMs: 'soon' }
    expect(await failureOf(step({ command: 'click', data: wrong }))).toMatchObject({
      details: [{ path: 'data.timeoutMs' }],
    })
  })

  test('rejects a malformed step with the field', async () => {
    await given.open('/')
    expect(await failureOf(step({}))).toMatchObject({ code: 'invalid_request', details: [{ path: 'command' }] })
    expect(await failureOf(step({ command: 'get_title', commands: [{ command: 'get_title' }] }))).toMatchObject({
      code: 'invalid_request',
    })
    expect(await failureOf(step({ command: 'clik', data: { selector: '#add' } }))).toMatchObject({
      message: expect.stringContaining('did you mean "click"?'),
    })
    expect(await failureOf(step({ commands: [click('#next'), { command: 'click', data: {} }] }))).toMatchObject({
      details: [{ path: 'commands[1].data.selector', message: 'is required' }],
    })
    expect(await failureOf(step({ command: 'get_title', settle_ms: -1 }))).toMatchObject({
      details: [{ path: 'settle_ms' }],
    })
    expect(await given.evaluate('location.pathname')).toBe('/')
  })
})
