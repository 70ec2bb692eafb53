import { describe, expect, test } from 'vitest'
import type { CallAction, ScriptPlan, StepPlan } from '../../../../src/cli/run/script/plan.ts'
import { resolveTemplate, type RunScope } from '../../../../src/cli/run/script/scope.ts'
import { fieldsOf } from '../../../../src/cli/run/script/verbs.ts'
import { holds } from '../../../../src/cli/run/script/condition.ts'
import { errorsOf, read } from './reading.ts'

type Reading = Parameters<typeof read>[1]

/** Returns the plan of a valid script. */
function planOf(files: string | Record<string, string>, reading?: Reading): ScriptPlan {
  const all = typeof files === 'string' ? { 'main.yaml': files } : files
  expect(errorsOf(all, reading)).toBe('')
  return read(all, reading).plans[0] as ScriptPlan
}

const scopeOf = ({ given, vars }: ScriptPlan, saved: Record<string, unknown> = {}): RunScope => ({
  given,
  vars,
  saved: new Map(Object.entries(saved)),
  items: new Map(),
  sessionId: () => 'ses_1',
})

/** Returns the request of a step: the verb and its data. */
function called(plan: ScriptPlan, step: StepPlan, saved?: Record<string, unknown>) {
  const { verb, data } = step.action as CallAction
  const scope = scopeOf(plan, saved)
  return [verb.name, fieldsOf(verb, data, (template) => resolveTemplate(template, scope))]
}

const calls = (text: string, saved?: Record<string, unknown>, reading?: Reading) => {
  const plan = planOf(text, reading)
  return plan.block.steps.map((step) => called(plan, step, saved))
}

test('commands can be spelled as on the command line', () => {
  const plan = planOf('steps:\n  - navigate-to: https://example.com\n  - command: get-title\n  - get-url\n')
  const names = plan.block.steps.map((step) => called(plan, step)[0])
  expect(names).toEqual(['navigate_to', 'get_title', 'get_url'])
})

test('the words of the command line are commands, with the fields that they set', () => {
  const steps = `
  - open: http://localhost
  - wait: 100
  - get title
  - get text: h1
  - press: Tab
  - press: ['#q', Enter]
  - type: ['#q', tea]
  - dialog accept
  - dialog-accept: my text
  - is visible: '#q'
  - tab
  - tab: tab_1
  - tab new: http://localhost
  - snapshot
  - screenshot: '#chart'
  - screenshot: chart.png
  - screenshot: [chart.png, '#chart']
`
  expect(calls(`steps:${steps}`)).toEqual([
    ['navigate_to', { url: 'http://localhost' }],
    ['wait_for', { milliseconds: 100 }],
    ['get_title', {}],
    ['get_text', { selector: 'h1' }],
    ['press_key', { key: 'Tab' }],
    ['press_key', { selector: '#q', key: 'Enter' }],
    ['type_text', { selector: '#q', text: 'tea' }],
    ['answer_dialog', { accept: true }],
    ['answer_dialog', { accept: true, text: 'my text' }],
    ['get_state', { state: 'visible', selector: '#q' }],
    ['list_tabs', {}],
    ['switch_tab', { tab: 'tab_1' }],
    ['new_tab', { url: 'http://localhost' }],
    ['observe', {}],
    ['screenshot', { selector: '#chart' }],
    ['screenshot', { path: 'chart.png' }],
    ['screenshot', { path: 'chart.png', selector: '#chart' }],
  ])
})

test('braces of other tools are errors where the script defines the name, and text elsewhere', () => {
  const script = (value: string) => `vars: {url: x}\nsteps:\n  - get_title:\n    save: page\n  - open: ${value}\n`
  expect(errorsOf(script('"{{url}}/a"'))).toContain('{{url}} is not a reference: write ${vars.url}')
  expect(errorsOf(script('"{{ vars.url }}"'))).toContain('{{ vars.url }} is not a reference: write ${vars.url}')
  expect(errorsOf(script('["{{page}}"]'))).toContain('{{page}} is not a reference: write ${page}')
  expect(errorsOf(script('{{url}}')))
    .toBe(`main.yaml:5:11: {{url}} is not text in YAML: write \${name} for a reference, or quote the text
  5 |   - open: {{url}}
    |           ^^^^^^^`)
  expect(errorsOf(`steps:\n  - type: ['#q', '{{name}}']\n`)).toBe('')
})

test('a selector is not the path of a file', () => {
  expect(errorsOf(`steps:\n  - pdf: '#page'\n`)).toContain(
    '"#page" is a selector, not the path of a file: write ./#page for a file of this name',
  )
})

test('a common word suggests the command that it stands for', () => {
  expect(errorsOf('steps:\n  - sleep: 5\n')).toContain('unknown command "sleep" (did you mean "wait"?)')
})

test('commands of a batch can be spelled as on the command line', () => {
  const steps = `
  - commands: [{command: get-title}]
  - browser-step: {commands: [{command: "\${vars.name}"}]}
  - browser-step: {command: get-title}
  - browser-step: {command: {command: get-title}}
  - shell-exec: {session_id: s, command: get-title}
`
  expect(calls(`vars: {name: get-title}\nsteps:${steps}`)).toEqual([
    ['commands', { commands: [{ command: 'get_title' }] }],
    ['browser_step', { commands: [{ command: 'get_title' }] }],
    ['browser_step', { command: 'get_title' }],
    ['browser_step', { command: { command: 'get_title' } }],
    ['shell_exec', { session_id: 's', command: 'get-title' }],
  ])
})

describe('the forms of a step', () => {
  test('accepts a name, one value, a list in the order of the fields, a mapping, and the long form', () => {
    const script = `
steps:
  - get_title
  - get_title:
  - click: '#buy'
  - type_text: ['#q', hello]
  - select_option: ['#size', [L, XL]]
  - navigate_to: {url: http://x}
  - command: click
    data: {selector: a}
  - command: get_title
`
    expect(calls(script)).toEqual([
      ['get_title', {}],
      ['get_title', {}],
      ['click', { selector: '#buy' }],
      ['type_text', { selector: '#q', text: 'hello' }],
      ['select_option', { selector: '#size', values: ['L', 'XL'] }],
      ['navigate_to', { url: 'http://x' }],
      ['click', { selector: 'a' }],
      ['get_title', {}],
    ])
  })

  test('reads numbers and booleans in text fields as they are written', () => {
    const script = `
vars: {pin: 42, on: true}
steps:
  - type_text: ['#pin', 4242]
  - type_text: {selector: '#pin', text: 0042}
  - type_text: &code ['#pin', 1.50]
  - type_text: *code
  - type_text: ['#a', True]
  - type_text: ['#a', "\${vars.pin}"]
  - select_option: ['#size', [42, "\${vars.on}"]]
  - command: set_cookie
    data: {name: a, value: 0x1F, secure: true}
  - scroll_to: 10
`
    expect(calls(script)).toEqual([
      ['type_text', { selector: '#pin', text: '4242' }],
      ['type_text', { selector: '#pin', text: '0042' }],
      ['type_text', { selector: '#pin', text: '1.50' }],
      ['type_text', { selector: '#pin', text: '1.50' }],
      ['type_text', { selector: '#a', text: 'True' }],
      ['type_text', { selector: '#a', text: '42' }],
      ['select_option', { selector: '#size', values: ['42', 'true'] }],
      ['set_cookie', { name: 'a', value: '0x1F', secure: true }],
      ['scroll_to', { y: 10 }],
    ])
  })

  test('takes one value where a field is a list, whether it is written or a reference', () => {
    const script = `
vars: {size: L, sizes: [L, XL], count: 042}
steps:
  - get_title:
    save: title
  - select_option: ['#size', XL]
  - select_option: ['#size', 007]
  - select_option: ['#size', "\${vars.size}"]
  - select_option: ['#size', "\${vars.sizes}"]
  - select_option: ['#size', "\${vars.sizes[1]}"]
  - select_option: ['#size', "\${vars.count}"]
  - select_option: ['#size', "\${title}"]
  - select_option: ['#size', "\${title} or \${vars.size}"]
`
    const values = calls(script, { title: 'M' }).map(([, data]) => (data as { values?: unknown }).values)
    expect(values.slice(1)).toEqual([['XL'], ['007'], ['L'], ['L', 'XL'], ['XL'], ['42'], ['M'], ['M or L']])
  })

  test('assigns one value to the first field when none is required', () => {
    expect(calls('steps: [{get_content: main}]')).toEqual([['get_content', { selector: 'main' }]])
  })

  test('names operations after their CLI command and their path', () => {
    const script = `
steps:
  - session_list
  - session_show
  - profile_save: shop
  - shell_create: {image: python}
  - shell_exec: ls
  - browser_step: {command: {command: get_title}}
  - commands: [{command: get_title}]
`
    expect(calls(script)).toEqual([
      ['session_list', {}],
      ['session_show', {}],
      ['profile_save', { name: 'shop' }],
      ['shell_create', { image: 'python' }],
      ['shell_exec', { command: 'ls' }],
      ['browser_step', { command: { command: 'get_title' } }],
      ['commands', { commands: [{ command: 'get_title' }] }],
    ])
  })

  test('supports merge keys and anchors of YAML', () => {
    const script = "vars: {}\nsteps:\n  - click: &buy '#buy'\n  - hover: *buy\n"
    expect(calls(script)).toEqual([
      ['click', { selector: '#buy' }],
      ['hover', { selector: '#buy' }],
    ])
  })
})

describe('references', () => {
  test('keep the type of the value, but become text inside text', () => {
    const script = `
vars: {n: 3, list: [1, 2], flag: true, user: {name: ann}}
steps:
  - navigate_to: http://x/\${vars.n}/\${vars.user.name}?l=\${vars.list}
  - wait_for_element: {selector: a, timeout_ms: "\${vars.n}", visible_only: "\${vars.flag}"}
  - evaluate: a $\${b} \${env.HOME}
  - evaluate: \${run.id} \${session.id}
`
    expect(calls(script, {}, { env: { HOME: '/root' } })).toEqual([
      ['navigate_to', { url: 'http://x/3/ann?l=[1,2]' }],
      ['wait_for_element', { selector: 'a', timeout_ms: 3, visible_only: true }],
      ['evaluate', { expression: 'a ${b} /root' }],
      ['evaluate', { expression: 'run_1 ses_1' }],
    ])
  })

  test('access keys, indices, names with spaces, and lengths of saved values', () => {
    const script = `
steps:
  - get_title:
    save: rows
  - evaluate: \${rows[0].name} \${rows[0]["full name"]} \${rows.length}
`
    const rows = [{ name: 'a', 'full name': 'b' }]
    expect(calls(script, { rows })[1]).toEqual(['evaluate', { expression: 'a b 1' }])
  })

  test('to a missing part fail when the step runs, with a suggestion', () => {
    const plan = planOf('steps:\n  - get_title:\n    save: user\n  - evaluate: ${user.nme}\n')
    const [, step] = plan.block.steps
    expect(() => called(plan, step!, { user: { name: 'ann' } })).toThrow(
      '${user.nme}: user has no "nme" (did you mean "name"?)',
    )
    expect(() => called(plan, step!)).toThrow('${user.nme} has no value: the step that saves it did not run or failed')
  })
})

describe('variables', () => {
  const script = 'vars: {base: http://x, n: 3, all: "${vars.base}/all"}\nsteps: [{navigate_to: "${vars.all}"}]\n'

  test('are set on the command line, with their type in the script', () => {
    const plan = planOf(script, { vars: { base: '5', n: '7', more: '9' } })
    expect(plan.vars).toEqual({ base: '5', n: 7, more: '9', all: '5/all' })
  })

  test('need no default when set on the command line', () => {
    const text = 'steps: [{navigate_to: "${vars.base}"}]'
    expect(errorsOf(text)).toContain('vars has no "base"')
    expect(calls(text, {}, { vars: { base: 'http://y' } })).toEqual([['navigate_to', { url: 'http://y' }]])
  })

  test('of an included file are defaults, overridden by the including file and by the step', () => {
    const files = {
      'main.yaml':
        'vars: {base: http://main}\nsteps:\n  - include: sub/login.yaml\n    vars: {user: ann}\n  - get_text: ${token}\n',
      'sub/login.yaml':
        'vars: {base: http://own, user: bob, role: guest}\nsteps:\n  - evaluate: ${vars.base} ${vars.user} ${vars.role}\n    save: token\n',
    }
    const plan = planOf(files)
    const { action } = plan.block.steps[0]!
    if (action.kind !== 'include') throw new Error('not an include')
    const outer = scopeOf(plan)
    const vars = Object.fromEntries(action.vars.map(([name, template]) => [name, resolveTemplate(template, outer)]))
    const inner = { ...outer, vars: { ...outer.vars, ...vars } }
    const [first] = action.block.steps
    expect(resolveTemplate((first!.action as CallAction).data, inner)).toEqual({ expression: 'http://main ann guest' })
    expect(first).toMatchObject({ number: '1.1', place: { file: 'sub/login.yaml' } })
  })
})

describe('when', () => {
  const cases: [when: string, saved: Record<string, unknown>, runs: boolean][] = [
    ['${a}', { a: true }, true],
    ['${a}', { a: 'false' }, false],
    ['${a}', { a: '0' }, false],
    ['${a}', { a: [] }, false],
    ['${a}', { a: [0] }, true],
    ['${a}', {}, false],
    ['!${a}', {}, true],
    ['!${a}', { a: 1 }, false],
    ['${a} == 3', { a: 3 }, true],
    ['${a} == 3', { a: '3' }, true],
    ['${a} != 3', { a: 3 }, false],
    ["${a} == 'two words'", { a: 'two words' }, true],
    ['${a} == null', {}, true],
    ['${a.b} == x', { a: {} }, false],
    ['true', {}, true],
  ]
  test.each(cases)('%s with %j', (when, saved, runs) => {
    const plan = planOf(`steps:\n  - get_title:\n    save: a\n  - get_title:\n    when: ${JSON.stringify(when)}\n`)
    expect(holds(plan.block.steps[1]!.when!, scopeOf(plan, saved))).toBe(runs)
  })
})

describe('the session of a script', () => {
  test('is created when a step needs one', () => {
    expect(planOf('steps: [get_title]').session).not.toBeNull()
    expect(planOf('steps: [session_list]').session).toBeNull()
    expect(planOf('session: {locale: de-DE}\nsteps: [session_list]').session).not.toBeNull()
  })

  test('can be an existing one, by its name', () => {
    const plan = planOf('session: shop\nsteps: [get_title]')
    expect(resolveTemplate(plan.session!, scopeOf(plan))).toEqual({ session_id: 'shop' })
  })

  test('accepts variables of any type', () => {
    const plan = planOf('vars: {w: 800}\nsession: {viewport: {width: "${vars.w}", height: 600}}\nsteps: [get_title]')
    expect(resolveTemplate(plan.session!, scopeOf(plan))).toEqual({ viewport: { width: 800, height: 600 } })
  })
})

test('does not check references before the run, but checks the values beside them', () => {
  const script =
    'steps:\n  - get_title:\n    save: n\n  - wait_for_element: {selector: "${n}", timeout_ms: "${n}", visible_only: 3}\n'
  expect(read({ 'main.yaml': script }).errors.map(({ message }) => message)).toEqual([
    'visible_only must be true or false',
  ])
})

test('accepts a plain body with the aliases of the HTTP API and the spelling of the command line', () => {
  const text =
    '{"commands":[{"command":"wait-for-element","data":{"selector":"a","timeoutMs":5}}],"continueOnError":true}'
  const { plans, errors } = read({ 'main.yaml': text })
  expect(errors).toEqual([])
  expect(plans[0]).toMatchObject({
    kind: 'body',
    body: { continue_on_error: true, commands: [{ command: 'wait_for_element', data: { timeout_ms: 5 } }] },
  })
})
