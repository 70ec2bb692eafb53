import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Batch</title><button id=a>A</button><a id=pop href=/pop target=_blank>Pop</a>
    <button id=ask onclick="document.title = String(confirm('sure?'))">Ask</button>`,
  '/begun': '<!doctype html><title>Begun</title>',
  '/pop': '<!doctype html><title>Pop</title><button id=close onclick="window.close()">Close</button>',
}

inUsualHomes(pages, (given) => {
  test('returns one entry per command, with the documented fields', async () => {
    const outcome = await given.run([
      ['navigate_to', { url: given.url('/') }],
      ['get_title'],
      ['click', { selector: '#a' }],
    ])
    expect(outcome).toEqual({
      success: true,
      session_id: given.sessionId(),
      steps_completed: 3,
      total_steps: 3,
      duration_ms: expect.any(Number),
      results: [
        {
          success: true,
          command_type: 'action',
          command: 'navigate_to',
          index: 0,
          duration_ms: expect.any(Number),
          data: { url: given.url('/'), status_code: 200 },
        },
        {
          success: true,
          command_type: 'extraction',
          command: 'get_title',
          index: 1,
          duration_ms: expect.any(Number),
          content_type: 'data',
          data: { result: { type: 'string', value: 'Batch' } },
        },
        { success: true, command_type: 'action', command: 'click', index: 2, duration_ms: expect.any(Number) },
      ],
    })
  })

  test('reports all errors of an invalid command, by field name, alias or misspelling', async () => {
    const strict = (commands: unknown[]) =>
      given.transport().send({
        method: 'POST',
        path: '/commands',
        headers: { 'content-type': 'application/json', prefer: 'handling=strict' },
        body: JSON.stringify({ session_id: given.sessionId(), commands }),
      })
    const answer = await strict([
      { command: 'click', data: { selectr: '#a' } },
      { command: 'wait_for_element', data: { selector: '#a', timeoutMs: 'soon' } },
    ])
    expect(answer.status).toBe(400)
    expect((JSON.parse(await answer.text()) as { details: unknown }).details).toEqual([
      { path: 'commands[0].data.selector', message: 'is required' },
      { path: 'commands[1].data.timeoutMs', message: 'must be a number' },
      { path: 'commands[0].data.selectr', message: 'is not a known field (did you mean "selector"?)' },
    ])
  })

  test('stops the batch at the first failure, which is reported at its top level', async () => {
    await given.open('/')
    const missing = { selector: '#x', timeout_ms: 700 }
    const outcome = await given.run([['get_title'], ['click', missing], ['get_title']])
    expect(outcome).toMatchObject({
      success: false,
      steps_completed: 1,
      total_steps: 3,
      error: 'no element matches #x',
      code: 'element_not_found',
    })
    expect(outcome.results[2]).toEqual({
      success: false,
      command_type: 'extraction',
      command: 'get_title',
      index: 2,
      skipped: true,
      error: 'skipped after a failed command',
      code: 'skipped',
    })
  })

  test('continue_on_error runs the rest and still reports the first failure', async () => {
    await given.open('/')
    const steps = [
      ['click', { selector: '#x', timeout_ms: 700 }],
      ['evaluate', { expression: 'no' }],
      ['get_title'],
    ] as const
    const outcome = await given.run(steps, { continue_on_error: true })
    expect(outcome).toMatchObject({ success: false, steps_completed: 1, code: 'element_not_found' })
    expect(outcome.results.map(({ code }) => code)).toEqual(['element_not_found', 'evaluate_failed', undefined])
  })

  test('ends a batch after its timeout, whatever it waits for', async () => {
    await given.open('/')
    const steps = [['get_title'], ['wait_for_element', { selector: '#never' }], ['get_title']] as const
    // Time for the first command on a busy machine; the second one would wait for longer.
    const outcome = await given.run(steps, { timeout_ms: 5000, continue_on_error: true })
    expect(outcome).toMatchObject({ success: false, steps_completed: 1, code: 'timeout' })
    expect(outcome.error).toBe('the batch timed out after 5000 ms')
    expect(outcome.results.map(({ code }) => code)).toEqual([undefined, 'timeout', 'skipped'])
  })

  test('cancels the action of a command that timed out', async () => {
    await given.open('/')
    await given.run([['click', { selector: '#late' }]], { timeout_ms: 300 })
    await given.evaluate(
      'window.hits = 0; document.body.innerHTML = "<button id=late onclick=hits++>Late</button>"; new Promise((resolve) => setTimeout(resolve, 300))',
    )
    expect(await given.evaluate('hits')).toBe(0)
  })

  test('activates a tab opened by a command before the next one of the batch', async () => {
    await given.open('/')
    for (let round = 0; round < 3; round++) {
      const { results } = await given.run([
        ['evaluate', { expression: "void window.open('/pop')" }],
        ['wait_for_element', { selector: '#close' }],
        ['get_title'],
        ['click', { selector: '#close' }],
      ])
      expect(results[2]!.data).toMatchObject({ result: { value: 'Pop' } })
      await given.do('wait_for_element', { selector: '#a' })
    }
  })

  test('runs commands in the newest tab, and in the previous one when it closes', async () => {
    await given.open('/')
    await given.do('click', { selector: '#pop' })
    await given.do('wait_for_navigation')
    expect(await given.value('get_title')).toBe('Pop')
    await given.run([['click', { selector: '#close' }]])
    await given.do('wait_for_element', { selector: '#a' })
    expect(await given.value('get_title')).toBe('Batch')
  })

  test('completes a command that opens a dialog', async () => {
    await given.open('/')
    await given.do('click', { selector: '#ask' })
    expect(await given.value('get_title')).toMatch(/true|false/)
  })

  test('fails the running command at once when its session is closed, even on a page that hangs', async () => {
    const client = given.homes().clients.embedded
    const { session_id } = await client.createSession({ headless: true })
    const running = client.runCommands({
      session_id,
      continue_on_error: true,
      commands: [
        { command: 'navigate_to', data: { url: given.url('/begun') } },
        { command: 'evaluate', data: { expression: 'while (true) {}' } },
        { command: 'get_title' },
      ],
    })
    while (!given.site().requests.includes('/begun')) await new Promise(setImmediate)
    await client.closeSession({ session_id: session_id! })
    const outcome = await running
    expect(outcome).toMatchObject({ success: false, code: 'session_closed' })
    expect(outcome.results.at(-1)).toMatchObject({ code: 'skipped' })
    expect(outcome.duration_ms).toBeLessThan(limits.command.evaluateMs)
  })
})
