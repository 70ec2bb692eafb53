import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Inspect</title><style>body{margin:0} .box{position:absolute;width:100px;height:40px}</style>
    <button id=buy class="box big" style="left:20px;top:30px" data-cents=1999 title=Buying>Buy now</button>
    <a id=link class=box style="left:20px;top:100px" href=/next>Next</a>
    <input id=secret type=password value=hush class=box style="left:20px;top:160px">
    <input id=terms type=checkbox checked><p id=gone hidden>Gone</p>
    <div id=host class=box style="left:300px;top:30px"></div>
    <iframe id=inner srcdoc="<body style='margin:0'><button id=in style='position:absolute;left:10px;top:20px;width:50px;height:20px'>In</button>" style="position:absolute;left:400px;top:200px;border:0"></iframe>
    <script>
      document.querySelector('#host').attachShadow({mode:'open'}).innerHTML = '<b id=deep>deep</b>'
    </script>`,
  '/strict': (_: unknown, response: import('node:http').ServerResponse) => {
    response.setHeader('content-security-policy', "default-src 'none'")
    response.setHeader('content-type', 'text/html').end('<title>Strict</title><p id=p>text</p>')
  },
}

const hung = (command: string) =>
  command === 'evaluate'
    ? { expression: 'while (true) {}' }
    : { selector: '#buy', expression: 'function () { while (true) {} }' }

inUsualHomes(pages, (given) => {
  const typed = async (expression: string) => (await given.do('evaluate', { expression }))['result']

  test('evaluate returns the value of an expression with the name of its type', async () => {
    await given.open('/')
    expect(await typed('document.title')).toEqual({ type: 'string', value: 'Inspect' })
    expect(await typed('1 + 1')).toEqual({ type: 'number', value: 2 })
    expect(await typed('2 > 1')).toEqual({ type: 'boolean', value: true })
    expect(await typed('null')).toEqual({ type: 'null', value: null })
    expect(await typed('undefined')).toEqual({ type: 'undefined', value: null })
    expect(await typed('({a: [1, {b: undefined}], d: new Date(0)})')).toEqual({
      type: 'object',
      value: { a: [1, { b: null }], d: '1970-01-01T00:00:00.000Z' },
    })
    expect(await typed('[1, "two"]')).toEqual({ type: 'array', value: [1, 'two'] })
    expect(await typed('12345678901234567890n')).toEqual({ type: 'bigint', value: '12345678901234567890' })
    expect(await typed('0 / 0')).toEqual({ type: 'nan', value: null })
    expect(await typed('-1 / 0')).toEqual({ type: 'number', value: '-Infinity' })
    expect(await typed('new Date(0)')).toEqual({ type: 'date', value: '1970-01-01T00:00:00.000Z' })
    expect(await typed('new Map([["a", 1]])')).toEqual({ type: 'array', value: [['a', 1]] })
  })

  test('evaluate awaits promises, accepts statements, and describes values that cannot be serialized', async () => {
    await given.open('/')
    expect(await typed('Promise.resolve(7)')).toEqual({ type: 'number', value: 7 })
    expect(await typed('await new Promise((resolve) => setTimeout(resolve, 10, "later"))')).toMatchObject({
      value: 'later',
    })
    expect(await typed('{ a: 1 }')).toEqual({ type: 'object', value: { a: 1 } })
    expect(await typed('{ let a = 2; a + 1 }')).toEqual({ type: 'number', value: 3 })
    expect(await typed('const many = [1, 2]; many.length')).toMatchObject({ value: 2 })
    expect(await typed('document.querySelector("#buy")')).toMatchObject({
      type: 'object',
      value: { kind: 'element', description: expect.stringContaining('id="buy"') },
    })
    expect(await typed('() => 1')).toEqual({ type: 'object', value: { kind: 'function', description: '() => 1' } })
    expect(await typed('window')).toMatchObject({ type: 'object', value: { kind: 'window' } })
    expect(await typed('const ring = {}; ring.self = ring; ring')).toMatchObject({ value: { self: '[circular]' } })
    expect(await typed('({ buy, list: document.querySelectorAll("button") })')).toMatchObject({
      value: { buy: expect.stringContaining('[element <button'), list: [expect.any(String)] },
    })
  })

  test('evaluate counts the entries beyond its limit', async () => {
    const many = 'Array.from({ length: 50_010 }, (_, at) => [`k${at}`, at])'
    const { value } = (await typed(`Object.fromEntries(${many})`)) as { value: Record<string, unknown> }
    expect([Object.keys(value).length, value['…']]).toEqual([50_001, '[10 more]'])
  })

  test('evaluate reports thrown errors and other values', async () => {
    await given.open('/')
    const fail = async (expression: string) => {
      const { code, error } = await given.fails('evaluate', { expression })
      return { code, error }
    }
    expect(await fail('missing.name')).toEqual({
      code: 'evaluate_failed',
      error: 'ReferenceError: missing is not defined',
    })
    expect(await fail('throw {reason: 1}')).toMatchObject({ code: 'evaluate_failed' })
    expect(await fail('Promise.reject(new TypeError("no"))')).toEqual({
      code: 'evaluate_failed',
      error: 'TypeError: no',
    })
    expect((await fail('1 +')).error).toContain('SyntaxError')
  })

  test('a hung evaluation that has to wait for a script of the page is aborted, too', async () => {
    await given.open('/')
    const block = 'setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }) && undefined'
    for (const command of ['evaluate', 'evaluate_on_element']) {
      await given.do('evaluate', { expression: block })
      const { code } = await given.fails(command, { ...hung(command), timeout_ms: 300 })
      expect(code).toBe('timeout')
      expect(await given.value('get_title')).toBe('Inspect')
    }
  })

  test('a hung evaluation is aborted, and the page can be used at once', async () => {
    await given.open('/')
    for (const expression of ['while (true) {}', 'new Promise(() => {})']) {
      const { code, error } = await given.fails('evaluate', { expression, timeout_ms: 300 })
      expect({ code, error }).toEqual({ code: 'timeout', error: 'the evaluation timed out after 300 ms' })
      expect(await typed('document.title')).toEqual({ type: 'string', value: 'Inspect' })
    }
    const onElement = { selector: '#buy', expression: 'function () { while (true) {} }', timeout_ms: 300 }
    expect((await given.fails('evaluate_on_element', onElement)).code).toBe('timeout')
    expect(await given.value('get_title')).toBe('Inspect')
    const batch = await given.run([['evaluate', { expression: 'while (true) {}' }], ['get_title']], { timeout_ms: 400 })
    expect(batch.results).toMatchObject([{ code: 'timeout' }, { code: 'skipped', skipped: true }])
    expect(batch.duration_ms).toBeLessThan(limits.command.evaluateMs)
    expect(await given.value('get_title')).toBe('Inspect')
  })

  test('evaluate works on pages whose policy forbids eval', async () => {
    await given.open('/strict')
    expect(await typed('document.querySelector("#p").textContent')).toMatchObject({ value: 'text' })
    const onElement = { selector: '#p', expression: 'function () { return this.id }' }
    expect(await given.value('evaluate_on_element', onElement)).toBe('p')
  })

  test('evaluate_on_element accepts a function, an arrow function, an expression or a body', async () => {
    await given.open('/')
    const on = (expression: string, selector = '#buy') => given.value('evaluate_on_element', { selector, expression })
    expect(await on('function () { return Number(this.dataset.cents) }')).toBe(1999)
    expect(await on('async function () { return this.id }')).toBe('buy')
    expect(await on('(element) => element.textContent')).toBe('Buy now')
    expect(await on('this.title // a comment')).toBe('Buying')
    expect(await on('const {id} = this; return id + "!"')).toBe('buy!')
    expect(await on('this.localName', 'frame=#inner >> #in')).toBe('button')
    expect(await on('this.textContent', '#deep')).toBe('deep')
    const thrown = await given.fails('evaluate_on_element', { selector: '#buy', expression: 'this.no.more' })
    expect(thrown).toMatchObject({ code: 'evaluate_failed', error: expect.stringContaining('TypeError') })
    const broken = await given.fails('evaluate_on_element', { selector: '#buy', expression: 'function (' })
    expect(broken).toMatchObject({ code: 'evaluate_failed', error: expect.stringContaining('SyntaxError') })
  })

  test('get_bounding_boxes lists the matches with their positions', async () => {
    await given.open('/')
    const { result, total } = await given.do('get_bounding_boxes', { selector: '.box', limit: 2, include_html: true })
    expect(total).toBe(4)
    expect(result).toMatchObject({
      type: 'array',
      value: [
        {
          index: 0,
          tag: 'button',
          text: 'Buy now',
          visible: true,
          x: 20,
          y: 30,
          width: 100,
          height: 40,
          html: expect.stringContaining('data-cents'),
        },
        { index: 1, tag: 'a', text: 'Next', x: 20, y: 100 },
      ],
    })
    expect(await given.value('get_bounding_boxes', { selector: '#nothing' })).toEqual([])
    expect((await given.fails('get_bounding_boxes', { selector: '[[' })).code).toBe('invalid_selector')
  })

  test('positions inside an iframe are relative to the page', async () => {
    await given.open('/')
    const selector = 'frame=#inner >> #in'
    await given.do('wait_for_element', { selector })
    expect(await given.value('get_bounding_boxes', { selector })).toMatchObject([{ x: 410, y: 220, width: 50 }])
    expect(await given.value('get_element_bounding_box', { selector })).toEqual({
      x: 410,
      y: 220,
      width: 50,
      height: 20,
    })
  })

  test('get_element_bounding_box returns null for a hidden element', async () => {
    await given.open('/')
    expect(await given.value('get_element_bounding_box', { selector: '#buy' })).toEqual({
      x: 20,
      y: 30,
      width: 100,
      height: 40,
    })
    expect(await given.value('get_element_bounding_box', { selector: '#gone' })).toBeNull()
  })

  test('get_basic_info describes an element', async () => {
    await given.open('/')
    expect(await given.value('get_basic_info', { selector: '#buy' })).toEqual({
      tag: 'button',
      id: 'buy',
      classes: ['box', 'big'],
      role: 'button',
      name: 'Buy now',
      text: 'Buy now',
      value: null,
      href: null,
      visible: true,
      enabled: true,
      box: { x: 20, y: 30, width: 100, height: 40 },
    })
    expect(await given.value('get_basic_info', { selector: '#link' })).toMatchObject({
      role: 'link',
      href: given.url('/next'),
    })
    expect(await given.value('get_basic_info', { selector: '#gone' })).toMatchObject({ visible: false, box: null })
  })

  test('inspect_element returns all details except passwords', async () => {
    await given.open('/')
    expect(await given.value('inspect_element', { selector: '#buy' })).toMatchObject({
      tag: 'button',
      attributes: { id: 'buy', 'data-cents': '1999' },
      in_viewport: true,
      covered_by: null,
      style: { display: 'block', position: 'absolute' },
      path: '#buy',
      ancestors: ['body', 'html'],
      html: expect.stringContaining('<button'),
    })
    expect(await given.value('inspect_element', { selector: '#terms' })).toMatchObject({
      checked: true,
      editable: true,
    })
    expect(await given.value('inspect_element', { selector: '#secret' })).toMatchObject({ value: null })
    expect(await given.value('inspect_element', { selector: '#deep' })).toMatchObject({
      in_shadow_root: true,
      ancestors: ['div#host.box', 'body', 'html'],
    })
    expect((await given.fails('inspect_element', { selector: '#by', timeout_ms: 700 })).error).toContain('#buy')
  })
})
