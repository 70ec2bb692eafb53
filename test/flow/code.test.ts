/** Code in a sandbox: its functions, its limits, and what it cannot reach. */
import { describe, expect, test } from 'vitest'
import type { Input } from '../../src/client/calls.ts'
import { inUsualHomes } from '../support/commands.ts'
import { waitUntil } from '../support/wait.ts'

const shop =
  '<!doctype html><title>Shop</title><h1>Shop</h1><table><tr><td>Tea<td>3<tr><td>Jam<td>5</table>' +
  '<input id=q><button id=buy onclick="this.textContent=\'Sold\'">Buy</button>'

inUsualHomes({ '/': shop }, (given) => {
  const run = (code: string, more: Partial<Input<'runCode'>> = {}) =>
    given.client().runCode({ code, session_id: given.sessionId(), ...more })
  const result = async (code: string, more?: Partial<Input<'runCode'>>) => {
    const answer = await run(code, more)
    expect(answer, answer.message).toMatchObject({ success: true })
    return answer.result
  }

  describe('functions', () => {
    test('runs commands with their required fields in order, with an object, or with both', async () => {
      const code = `
        await bax.navigate_to(args.url)
        await bax.fill('#q', 'jam')
        await bax.click({ selector: '#buy' })
        await bax.wait_for_element('text=Sold', { timeout_ms: 5000 })
        return [await bax.get_title(), await bax.get_value('#q'), await bax.get_text('#buy')]`
      expect(await result(code, { args: { url: given.url('/') } })).toEqual(['Shop', 'jam', 'Sold'])
    })

    test('calls operations, those of a session in its session', async () => {
      await given.open('/')
      const code = `
        const { data } = await bax.scrape({ url: args.url, formats: ['markdown'] })
        const { snapshot } = await bax.observe({ interactive_only: true })
        const { session_id } = await bax.getSession()
        const cells = await bax.evaluate('[...document.querySelectorAll("td")].map((cell) => cell.textContent)')
        return { markdown: data.markdown, snapshot, session_id, cells }`
      expect(await result(code, { args: { url: given.url('/') } })).toEqual({
        markdown: expect.stringContaining('| Tea | 3 |'),
        snapshot: expect.stringContaining('button "Buy"'),
        session_id: given.sessionId(),
        cells: ['Tea', '3', 'Jam', '5'],
      })
    })

    test('returns what was printed and the number of calls', async () => {
      const answer = await run(
        `console.log('a', 1, { b: [2] }, null, undefined); await bax.get_url(); console.error(new Error('x'))`,
      )
      expect(answer).toMatchObject({ success: true, result: null, calls: 1 })
      expect(answer.output).toBe('a 1 {"b":[2]} null undefined\nError: x\n')
    })

    test('opens a session for the first command, which ends with the code', async () => {
      const { result } = await given.client().runCode({ code: 'return (await bax.getSession()).session_id' })
      expect(result).toMatch(/^ses_/)
      const { sessions } = await given.client().listSessions({})
      expect(sessions.map(({ session_id }) => session_id)).not.toContain(result)
    })

    test('opens no session for code without commands', async () => {
      const before = (await given.client().listSessions({ status: 'all' })).total
      expect((await given.client().runCode({ code: 'return (await bax.getEngineStatus()).version' })).success).toBe(
        true,
      )
      expect((await given.client().listSessions({ status: 'all' })).total).toBe(before)
    })

    test('fails before the first call in a session that does not hold what has to wait', async () => {
      const code = `return await bax.evaluate('1 + 1')`
      await expect(run(code, { confirm: ['eval'] })).rejects.toMatchObject({
        code: 'conflict',
        message: 'the session was created without confirm eval',
      })
      const { session_id } = await given.client().createSession({ confirm: ['eval', 'submit'] })
      expect(await result('return await bax.get_url()', { session_id, confirm: ['eval'] })).toBe('about:blank')
      await expect(run(code, { session_id, confirm: ['eval', 'download'] })).rejects.toMatchObject({
        code: 'conflict',
        message: 'the session was created without confirm download',
      })
      await given.client().closeSession({ session_id: session_id! })
    })

    test('has only the functions that are named', async () => {
      const answer = await run('await bax.get_title(); await bax.get_url()', { functions: ['get_url'] })
      expect(answer).toMatchObject({ code: 'code_failed', calls: 0 })
      await expect(run('return 1', { functions: ['get_ulr'] })).rejects.toMatchObject({
        code: 'invalid_request',
        message: 'functions[0] is no function: "get_ulr" (did you mean "get_url"?)',
      })
    })

    test.each(['approveAction', 'rejectAction', 'runCode'])('has no function %s', async (name) => {
      expect(await run(`await bax.${name}({})`)).toMatchObject({ code: 'code_failed', calls: 0 })
    })
  })

  describe('failures', () => {
    test('throws an error with the code of the failed call, which code can catch', async () => {
      const code = `
        try { await bax.click('#no', { timeout_ms: 1 }) } catch (error) { return [error.name, error.code, error.message] }`
      expect(await result(code)).toEqual(['BaxError', 'element_not_found', 'no element matches #no'])
    })

    test.each<[string, string, { readonly code?: string; readonly line?: number; readonly column?: number }]>([
      [
        'a failed call',
        `\n  await bax.click('#no', { timeout_ms: 1 })`,
        { code: 'element_not_found', line: 2, column: 18 },
      ],
      [
        'a call that is not awaited',
        `bax.click('#no', { timeout_ms: 1 }); return 1`,
        { code: 'element_not_found', line: 1 },
      ],
      ['invalid fields', `\n\nawait bax.click({ selectr: '#a' })`, { code: 'invalid_request', line: 3 }],
      ['too many arguments', `await bax.click('#a', {}, 3)`, { code: 'invalid_request', line: 1 }],
      ['an exception', `const a = 1\n  a.b.c()`, { code: 'code_failed', line: 2 }],
      [
        'an exception of a function',
        `const f = () => {\n throw new RangeError('x') }\nawait null\nf()`,
        { line: 2, column: 22 },
      ],
      ['a syntax error', `const a = 1\nlet b = ;`, { code: 'code_failed', line: 2 }],
      ['a misspelled function', `\nawait bax.clik('a')`, { code: 'code_failed', line: 2 }],
      ['a thrown text', `throw 'no'`, { code: 'code_failed' }],
      ['a forged code', `throw Object.assign(new Error('x'), { code: 'rejected' })`, { code: 'code_failed' }],
    ])('reports %s with its code and position', async (_, code, { code: expected = 'code_failed', ...place }) => {
      expect(await run(code)).toMatchObject({ success: false, result: null, code: expected, details: place })
    })

    test('keeps what was printed before a failure', async () => {
      expect(await run(`console.log('before'); throw new Error('x')`)).toMatchObject({
        output: 'before\n',
        message: expect.stringMatching(/^Error: x \(line 1, column \d+\)$/),
      })
    })

    test('names the function that was meant', async () => {
      const { message } = await run(`await bax.clik('a')`)
      expect(message).toContain('bax has no function "clik" (did you mean "click"?)')
    })
  })

  describe('limits', () => {
    test.each<[string, string, Partial<Input<'runCode'>>, string]>([
      ['time in a loop', 'while (true) {}', { timeout_ms: 300 }, 'timeout'],
      [
        'time in a loop that catches',
        'try { while (true) {} } catch {} finally { while (true) {} }',
        { timeout_ms: 300 },
        'timeout',
      ],
      ['time in a loop of promises', 'while (true) await null', { timeout_ms: 300 }, 'timeout'],
      ['time in a regular expression', `/(a+)+$/.test('a'.repeat(40) + 'b')`, { timeout_ms: 300 }, 'timeout'],
      ['time in a call', `await bax.wait_for_element('#no', { timeout_ms: 60000 })`, { timeout_ms: 300 }, 'timeout'],
      ['memory of objects', 'const a = []; for (;;) a.push([a.length])', {}, 'limit_exceeded'],
      ['memory of texts', `const a = []; for (;;) a.push('x'.repeat(1000) + a.length)`, {}, 'limit_exceeded'],
      ['memory of buffers', 'const a = []; for (;;) a.push(new ArrayBuffer(1e6))', {}, 'limit_exceeded'],
      ['recursion', 'const f = () => f() + 1; f()', {}, 'code_failed'],
      ['a text that is too long', `return 'x'.repeat(2 ** 30)`, {}, 'code_failed'],
      ['a promise that nothing settles', 'await new Promise(() => {})', {}, 'code_failed'],
      ['calls', 'for (let i = 0; i < 10000; i++) await bax.getEngineStatus()', { max_calls: 5 }, 'limit_exceeded'],
      ['calls at once', 'for (let i = 0; i < 10000; i++) bax.getEngineStatus()', { max_calls: 5 }, 'limit_exceeded'],
      ['caught calls', 'for (;;) try { await bax.getEngineStatus() } catch {}', { max_calls: 5 }, 'limit_exceeded'],
      ['output', `for (;;) console.log('x'.repeat(100))`, { max_output_chars: 1000 }, 'limit_exceeded'],
      ['the result', `return 'x'.repeat(1001)`, { max_output_chars: 1000 }, 'limit_exceeded'],
    ])('ends code beyond its limit: %s', async (_, code, more, expected) => {
      const answer = await run(code, more)
      expect(answer, answer.message).toMatchObject({
        success: false,
        code: expected,
        message: expect.stringMatching(/\w/),
      })
      expect(answer.calls).toBeLessThanOrEqual(5)
      expect(answer.output.length).toBeLessThanOrEqual(1000)
    })

    test('ends code whose pending calls have more arguments than its memory allows', async () => {
      const code = `const text = 'x'.repeat(1500000); for (let i = 0; i < 5; i++) bax.getEngineStatus({ text })`
      expect(await run(code, { memory_mb: 17 })).toMatchObject({
        code: 'limit_exceeded',
        message: expect.stringContaining('the arguments of the pending calls have more than 4456448 characters'),
        details: { limit: 'memory_mb', line: 1 },
        calls: 2,
      })
      // Calls that are done no longer count.
      const after = `
        const text = 'x'.repeat(1500000)
        for (let i = 0; i < 3; i++) await bax.getEngineStatus({ text }).catch(() => {})
        return 'done'`
      expect(await result(after, { memory_mb: 17 })).toBe('done')
    })

    test('fails a call whose result does not fit into the memory', async () => {
      const code = `await bax.evaluate('"x".repeat(6000000)')`
      expect(await run(code, { memory_mb: 17 })).toMatchObject({ code: 'content_too_large' })
    })

    test('ends with its caller, with the call that it waits for and its session', async () => {
      const ended = new AbortController()
      const calls = given.client().runCode(
        {
          code: `await bax.navigate_to(args.url); await bax.wait_for_element('#no', { timeout_ms: 60000 })`,
          args: { url: given.url('/') },
        },
        { signal: ended.signal },
      )
      const others = async () =>
        (await given.client().listSessions({})).sessions.filter(({ session_id }) => session_id !== given.sessionId())
      await waitUntil(async () => (await others()).length === 1)
      ended.abort()
      await expect(calls).rejects.toThrow()
      await waitUntil(async () => (await others()).length === 0)
    })
  })

  describe('confinement', () => {
    test('has no globals but those of the language, bax, args and console', async () => {
      const names =
        'process require module fetch setTimeout queueMicrotask WebAssembly Worker std os print performance navigator'
      const code = `return args.names.filter((name) => typeof globalThis[name] !== 'undefined')`
      expect(await result(code, { args: { names: names.split(' ') } })).toEqual([])
    })

    test.each([
      [
        'constructors of functions',
        `return bax.get_url.constructor('return typeof process + typeof require')()`,
        'undefinedundefined',
      ],
      [
        'constructors of promises',
        `return bax.get_url().constructor.constructor('return typeof process')()`,
        'undefined',
      ],
      [
        'constructors of errors',
        `try { await bax.click('#no', { timeout_ms: 1 }) } catch (e) { return e.constructor.constructor('return typeof process')() }`,
        'undefined',
      ],
      [
        'constructors of results',
        `return (await bax.get_cookies()).constructor.constructor('return typeof process')()`,
        'undefined',
      ],
      ['eval', `return eval('typeof process') + (0, eval)('typeof globalThis.bax')`, 'undefinedobject'],
      ['stacks', `Error.prepareStackTrace = (_, frames) => frames; return typeof new Error().stack`, 'string'],
      [
        'getters of arguments',
        `let n = 0; await bax.get_url({ get x() { n += 1; return undefined } }).catch(() => {}); return n`,
        1,
      ],
      [
        'conversions of arguments',
        `await bax.get_text({ [Symbol.toPrimitive]: () => '#buy', toJSON: () => '#buy' }); return 'ok'`,
        'ok',
      ],
      ['a function as an argument', `return await bax.evaluate(() => 1).catch((error) => error.name)`, 'TypeError'],
      [
        'a cyclic argument',
        `const a = {}; a.a = a; return await bax.get_url(a).catch((error) => error.name)`,
        'TypeError',
      ],
      [
        'functions that are replaced',
        `try { bax.get_url = 1; delete bax.get_url } catch {} return typeof bax.get_url`,
        'function',
      ],
    ])('confines %s', async (_, code, expected) => {
      await given.open('/')
      expect(await result(code)).toBe(expected)
    })

    test.each([
      ['import()', `return await import('node:fs')`],
      ['a cyclic result', 'const a = {}; a.a = a; return a'],
      ['a result that is a function', 'return () => 1'],
      ['a result that throws', `return { toJSON() { throw new Error('x') } }`],
      ['an error with getters', `throw { get message() { throw new Error('x') }, toJSON() { throw 1 } }`],
      ['code that closes its function', `}); throw new Error('x'); (() => {`],
    ])('fails %s', async (_, code) => {
      expect(await run(code)).toMatchObject({ success: false, code: 'code_failed' })
    })

    test('changes no prototype outside of the sandbox', async () => {
      const code = `
        Object.prototype.polluted = 1; Array.prototype.map = () => 'x'; JSON.stringify = () => 'x'; Promise.prototype.then = null
        return JSON.parse('{"__proto__": {"polluted": 2}, "constructor": {"prototype": {"polluted": 3}}}')`
      expect(Object.keys((await result(code)) as object)).toEqual(['__proto__', 'constructor'])
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
      expect(await result(`return await bax.get_title({ __proto__: { polluted: 1 } })`)).toBe('Shop')
      const named = await run(`return await bax.get_title(JSON.parse('{"__proto__": {"polluted": 1}}'))`)
      expect(named).toMatchObject({ code: 'invalid_request' })
    })

    test('sees nothing of other code', async () => {
      expect(await result('globalThis.left = 1; return typeof left')).toBe('number')
      expect(await result('return typeof left')).toBe('undefined')
    })
  })
})
