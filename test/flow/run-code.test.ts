/** The step `code` of scripts: its session, its values, its limits, and what repeats it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveSite, type Site } from '../support/site.ts'
import { scriptsOnServer } from '../support/scripts.ts'
import { waitUntil } from '../support/wait.ts'

const given = scriptsOnServer()

let site: Site
beforeAll(async () => {
  site = await serveSite({
    '/': `<!doctype html><title>Shop</title><table><tr><td>Tea<td>3<tr><td>Jam<td>5</table>
<button id=buy onclick="this.textContent = 'Sold ' + (window.count = (window.count ?? 0) + 1)">Buy</button>`,
  })
})
afterAll(() => site.close())

interface Step {
  readonly name: string
  readonly status: string
  readonly tries: number
  readonly value?: unknown
  readonly code?: string
  readonly error?: string
}

/** Runs steps on the page of the shop; returns their reports. */
async function run(steps: string, argv: readonly string[] = []) {
  await given.folder.write('script.yaml', `session: {start_url: "${site.url}/"}\nsteps:\n${steps}`)
  const result = await given.run(['script.yaml', '--reporter', 'json', ...argv])
  if (result.code === 2) throw new Error(result.stderr)
  const { scripts } = JSON.parse(result.stdout) as { scripts: { steps: Step[] }[] }
  return { ...result, steps: scripts[0]!.steps }
}

describe('the step code', () => {
  test('runs in the session of the script; later steps use its result, and it uses earlier ones', async () => {
    const { code, steps } = await run(`
  - get_title:
    save: title
  - code:
      code: |
        const cells = await bax.evaluate('[...document.querySelectorAll("td")].map((cell) => cell.textContent)')
        console.log('read', cells.length)
        await bax.click('#buy')
        return { title: args.title, cells, total: Number(cells[1]) + Number(cells[3]) }
      args: {title: "\${title}"}
    save: shop
    expect: {path: result.total, equals: 8}
  - get_text: '#buy'
    expect: {equals: Sold 1}
  - evaluate: '\${shop.result.total} + 1'
    expect: {equals: 9}
  - code: return args.names.map((name) => \`- $\${name}\`).join()
    for_each: ["a"]
    continue_on_error: true
  - code: {code: 'return args.rows.length', args: {rows: "\${shop.result.cells}"}}
    expect: {path: result, equals: 4}
`)
    expect(steps.map(({ status }) => status)).toEqual(['passed', 'passed', 'passed', 'passed', 'failed', 'passed'])
    expect(steps[1]!.value).toMatchObject({
      success: true,
      result: { title: 'Shop', total: 8 },
      output: 'read 4\n',
      calls: 2,
    })
    // \`$\${\` is the text \`\${\`, so that the code has a template of its own.
    expect(steps[4]).toMatchObject({
      code: 'code_failed',
      error: expect.stringMatching(/^TypeError: .*\(line 1, column/),
    })
    expect(code).toBe(1)
  })

  test('fails with the error, the position in the code, and what the code has printed', async () => {
    const { code, steps } = await run(`
  - code: |
      console.log('before')
      await bax.click('#gone', { timeout_ms: 1 })
`)
    expect(code).toBe(1)
    expect(steps[0]).toMatchObject({
      status: 'failed',
      code: 'element_not_found',
      error: 'no element matches #gone (line 2, column 16)\nprinted: before',
    })
  })

  test.each([
    ['its number of calls', '{code: "for (;;) await bax.get_title()", max_calls: 3}', '', 'limit_exceeded'],
    ['its time', '{code: "for (;;) {}", timeout_ms: 300}', '', 'timeout'],
    ['the time of the step', '"for (;;) await bax.get_title()"', '\n    timeout_ms: 700', 'timeout'],
  ])('ends with a limit: %s', async (_, fields, more, expected) => {
    const { steps } = await run(`  - code: ${fields}${more}\n    continue_on_error: true\n  - get_title\n`)
    expect(steps).toMatchObject([
      { status: 'failed', code: expected },
      { status: 'passed', value: 'Shop' },
    ])
  })

  test('is checked with the script', async () => {
    await expect(run('  - code: {cod: "return 1"}\n')).rejects.toThrow(
      'script.yaml:3:12: cod is not a known field (did you mean "code"?)',
    )
    await expect(run('  - code: {code: "return 1", max_calls: many}\n')).rejects.toThrow('max_calls must be a number')
  })

  test('that has acted is not repeated, unless the script allows it', async () => {
    const buy = `await bax.click("#buy")`
    const count = '  - evaluate: window.count ?? 0\n'
    const code = (text: string, retry: string, more = '') =>
      run(`  - code: ${JSON.stringify(text)}\n    retry: ${retry}\n    continue_on_error: true\n${more}${count}`)
    const expectation = '    expect: {path: result, equals: 1}\n'
    expect((await code(`${buy}; throw new Error("x")`, '2')).steps).toMatchObject([{ tries: 1 }, { value: 1 }])
    expect((await code(`${buy}; return 2`, '2', expectation)).steps).toMatchObject([{ tries: 3 }, { value: 1 }])
    const again = '{count: 2, repeat_delivered: true}'
    expect((await code(`${buy}; throw new Error("x")`, again)).steps).toMatchObject([{ tries: 3 }, { value: 3 }])
    const nothing = 'await bax.click("#gone", { timeout_ms: 1 })'
    expect((await code(nothing, '2')).steps).toMatchObject([{ tries: 3, code: 'element_not_found' }, { value: 0 }])
  })

  test('waits for a person where its session does, and is part of what the session records', async () => {
    const client = given.homes.clients.http
    const running = run(
      `
  - code: |
      await bax.click('#buy')
      return await bax.evaluate('window.count')
`,
      ['--confirm', 'eval'],
    )
    const waiting = async () => (await client.listApprovals({})).approvals[0]
    await waitUntil(async () => (await waiting()) !== undefined)
    const { approval_id, session_id, command } = (await waiting())!
    expect(command).toBe('evaluate')
    // Its calls are commands of the session, like those of steps.
    expect((await client.getSessionScript({ session_id })).script).toMatch(/click: .*buy|click:\n\s+selector: .*Buy/i)
    await client.approveAction({ session_id, approval_id })
    const { steps } = await running
    expect(steps).toMatchObject([{ status: 'passed', value: { result: 1, calls: 2 } }])
  })
})
