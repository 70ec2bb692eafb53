import { describe, expect, test } from 'vitest'
import { errorsOf, reportsErrors } from './reading.ts'

describe('the top level of a script', () => {
  reportsErrors(
    'refuses unknown keys and invalid values',
    'sesion: {}\nname: [x]\nsteps: [get_title]\n',
    `main.yaml:1:1: sesion is not a known field (did you mean "session"?)
  1 | sesion: {}
    | ^^^^^^

main.yaml:2:7: name must be a string
  2 | name: [x]
    |       ^^^`,
  )
  reportsErrors(
    'requires steps',
    'name: x\n',
    `main.yaml:1:1: steps is required
  1 | name: x
    | ^^^^^^^`,
  )
  reportsErrors(
    'requires a non-empty list of steps',
    'steps: []\nfinally: 3\n',
    `main.yaml:1:8: steps must not be empty
  1 | steps: []
    |        ^^

main.yaml:2:10: finally must be a list
  2 | finally: 3
    |          ^`,
  )
  reportsErrors(
    'must be a mapping',
    '- get_title\n',
    `main.yaml:1:1: a script must be a mapping with a list of steps
  1 | - get_title
    | ^^^^^^^^^^^`,
  )
  reportsErrors(
    'must not be empty',
    '',
    `main.yaml:1:1: the file is empty: a script must be a mapping with a list of steps
  1 | 
    | ^`,
  )
  reportsErrors(
    'refuses invalid session options',
    'session: {start_urll: x, viewport: {width: a}, timeout_secs: 0}\nsteps: [get_title]\n',
    `main.yaml:1:11: start_urll is not a known field (did you mean "start_url"?)
  1 | session: {start_urll: x, viewport: {width: a}, timeout_secs: 0}
    |           ^^^^^^^^^^

main.yaml:1:26: viewport.height is required
  1 | session: {start_urll: x, viewport: {width: a}, timeout_secs: 0}
    |                          ^^^^^^^^

main.yaml:1:44: viewport.width must be a number
  1 | session: {start_urll: x, viewport: {width: a}, timeout_secs: 0}
    |                                            ^

main.yaml:1:62: timeout_secs must be at least 1
  1 | session: {start_urll: x, viewport: {width: a}, timeout_secs: 0}
    |                                                              ^`,
  )
  reportsErrors(
    'refuses options of a new session with session_id',
    'session: {session_id: shop, locale: de-DE}\nsteps: [get_title]\n',
    `main.yaml:1:29: locale is only allowed for a new session, not with session_id
  1 | session: {session_id: shop, locale: de-DE}
    |                             ^^^^^^`,
  )
  reportsErrors(
    'refuses two profiles',
    'session: {profile: a, profile_id: 7b0c3ad2-7a5d-4c8e-9d9c-2f6f0f4f3a11}\nsteps: [get_title]\n',
    `main.yaml:1:11: profile and profile_id cannot be combined
  1 | session: {profile: a, profile_id: 7b0c3ad2-7a5d-4c8e-9d9c-2f6f0f4f3a11}
    |           ^^^^^^^`,
  )
  reportsErrors(
    'requires text or a mapping for session, and a mapping for vars',
    'session: 3\nvars: [a]\nsteps: [get_title]\n',
    `main.yaml:1:10: session must be the id or name of a session, or a mapping
  1 | session: 3
    |          ^

main.yaml:2:7: vars must be a mapping
  2 | vars: [a]
    |       ^^^`,
  )
  reportsErrors(
    'refuses secrets that are not set',
    'secrets: [PASSWORD, 3]\nsteps: [get_title]\n',
    `main.yaml:1:11: environment variable PASSWORD is not set
  1 | secrets: [PASSWORD, 3]
    |           ^^^^^^^^

main.yaml:1:21: secrets[1] must be a string
  1 | secrets: [PASSWORD, 3]
    |                     ^`,
  )
  reportsErrors(
    'requires variables that are known before the run',
    'vars:\n  a: ${vars.b}\n  b: ${session.id}\nsteps: [get_title]\n',
    `main.yaml:2:6: \${vars.b}: vars has no "b"
  2 |   a: \${vars.b}
    |      ^^^^^^^^^

main.yaml:3:6: vars.b must be known before the script runs
  3 |   b: \${session.id}
    |      ^^^^^^^^^^^^^`,
  )
})

describe('an included file', () => {
  test('must exist', () => {
    expect(errorsOf('steps:\n  - include: nope.yaml\n')).toBe(`main.yaml:2:14: file not found: nope.yaml
  2 |   - include: nope.yaml
    |              ^^^^^^^^^`)
  })

  test('must not include itself through others', () => {
    const files = { 'main.yaml': 'steps:\n  - include: b.yaml\n', 'b.yaml': 'steps:\n  - include: main.yaml\n' }
    expect(errorsOf(files)).toBe(`b.yaml:2:14: circular include: main.yaml -> b.yaml -> main.yaml
  2 |   - include: main.yaml
    |              ^^^^^^^^^`)
  })

  test('reports its errors once, at their own position', () => {
    const files = {
      'main.yaml': 'steps:\n  - include: b.yaml\n  - include: b.yaml\n',
      'b.yaml': 'steps:\n  - clik: a\n',
    }
    expect(errorsOf(files)).toBe(`b.yaml:2:5: unknown command "clik" (did you mean "click"?)
  2 |   - clik: a
    |     ^^^^`)
  })

  test('refuses unknown variables', () => {
    const files = {
      'main.yaml': 'steps:\n  - include: b.yaml\n    vars: {usr: ann}\n',
      'b.yaml': 'vars: {user: x}\nsteps:\n  - get_text: ${vars.user}\n',
    }
    expect(errorsOf(files)).toBe(`main.yaml:3:12: b.yaml has no variable "usr" (did you mean "user"?)
  3 |     vars: {usr: ann}
    |            ^^^`)
  })

  test('has no result to save', () => {
    const files = { 'main.yaml': 'steps:\n  - include: b.yaml\n    save: x\n', 'b.yaml': 'steps: [get_title]\n' }
    expect(errorsOf(files)).toBe(`main.yaml:3:5: save is not allowed with include: set it in the included file
  3 |     save: x
    |     ^^^^`)
  })

  test('must be known before the run', () => {
    expect(errorsOf('steps:\n  - get_title:\n    save: a\n  - include: ${a}\n')).toBe(
      `main.yaml:4:14: include must be the path of a file, known before the script runs
  4 |   - include: \${a}
    |              ^^^^`,
    )
  })
})

describe('the text of a script', () => {
  reportsErrors(
    'must be YAML; only the first structural error is reported',
    'steps:\n  - click: [a\n  - click: b}\n',
    `main.yaml:3:3: invalid YAML: flow sequence in block collection must be sufficiently indented and end with a ]
  3 |   - click: b}
    |   ^`,
  )
  reportsErrors(
    'must not have duplicate keys',
    'name: a\nname: b\nsteps: [get_title]\n',
    `main.yaml:2:1: invalid YAML: map keys must be unique
  2 | name: b
    | ^`,
  )
  reportsErrors(
    'requires quotes around references inside braces',
    'steps:\n  - click: {selector: ${vars.a}}\n',
    `main.yaml:2:24: invalid YAML: inside {…} and […] a reference needs quotes, "\${vars.a}"
  2 |   - click: {selector: \${vars.a}}
    |                        ^`,
  )
  reportsErrors(
    'requires anchors for aliases',
    'steps:\n  - click: *buy\n',
    `main.yaml:2:12: *buy: no anchor above is named &buy
  2 |   - click: *buy
    |            ^^^^`,
  )
  reportsErrors(
    'aligns the caret after tabs',
    'steps:\n  - click: "a\t${b c}"\n',
    `main.yaml:2:15: \${b c} is not a reference: write \${name}, \${name.key} or \${name[0]}, and $\${ for a literal \${
  2 |   - click: "a\t\${b c}"
    |              \t^^^^^^`,
  )
  reportsErrors(
    'must close a quoted text; the opening quotation mark is shown',
    'steps:\n  - click: "#buy\n  - get_title\n',
    `main.yaml:2:12: invalid YAML: a quoted text is not closed: add " at its end
  2 |   - click: "#buy
    |            ^^^^^`,
  )
  reportsErrors(
    'must close a quoted text before the next line with one',
    "steps:\n  - click: '#buy\n  - click: '#cart'\n",
    `main.yaml:2:12: invalid YAML: a quoted text is not closed: add ' at its end
  2 |   - click: '#buy
    |            ^^^^^`,
  )
  test('shows only the surroundings of an error in a long line', () => {
    const text = `{"commands":[${'{"command":"get_title"},'.repeat(10)}{"command":"clik"}]}`
    expect(errorsOf({ 'main.json': text }, {}, 'main.json')).toBe(
      `main.json:1:265: commands[10].command: unknown command "clik" (did you mean "click"?)
  1 | …le"},{"command":"get_title"},{"command":"clik"}]}
    |                                          ^^^^^^`,
    )
  })
})

describe('a plain body', () => {
  test('is validated as by the engine, with positions', () => {
    const text =
      '{\n\t"commands": [\n\t\t{"command": "click", "data": {"selectr": "a"}}\n\t],\n\t"contnue_on_error": true\n}'
    expect(errorsOf({ 'main.json': text }, {}, 'main.json')).toBe(
      `main.json:3:24: commands[0].data.selector is required
  3 | \t\t{"command": "click", "data": {"selectr": "a"}}
    | \t\t                     ^^^^^^

main.json:3:33: commands[0].data.selectr is not a known field (did you mean "selector"?)
  3 | \t\t{"command": "click", "data": {"selectr": "a"}}
    | \t\t                              ^^^^^^^^^

main.json:5:2: contnue_on_error is not a known field (did you mean "continue_on_error"?)
  5 | \t"contnue_on_error": true
    | \t^^^^^^^^^^^^^^^^^^`,
    )
  })
})

describe('identical errors', () => {
  test('are printed once, with all their positions', () => {
    const script = `secrets: [TOKEN]\nsteps:\n${'  - clik: a\n'.repeat(3)}`
    expect(errorsOf(script)).toBe(`main.yaml:1:11: environment variable TOKEN is not set
  1 | secrets: [TOKEN]
    |           ^^^^^

main.yaml:3:5: unknown command "clik" (did you mean "click"?)
  3 |   - clik: a
    |     ^^^^
  also at main.yaml:4:5, main.yaml:5:5`)
  })

  test('name at most five further positions', () => {
    const { length, [length - 1]: last } = errorsOf(`steps:\n${'  - clik: a\n'.repeat(9)}`).split('\n')
    expect(last).toBe('  also at main.yaml:3:5, main.yaml:4:5, main.yaml:5:5, main.yaml:6:5, main.yaml:7:5 and 3 more')
  })
})

describe('a check without the environment variables of a script', () => {
  const check = { checkOnly: true }

  test('accepts every use of them', () => {
    const script = `
secrets: [PASSWORD]
vars: {user: "\${env.USER_NAME}", url: "http://x/\${env.PATH_NAME}", rows: "\${env.ROWS}"}
session: {start_url: "\${vars.url}", timeout_secs: "\${env.SECONDS}"}
steps:
  - type_text: ['#user', "\${vars.user}"]
  - wait_for_element: {selector: a, timeout_ms: "\${env.MS}"}
    timeout_ms: \${env.MS}
    for_each: \${vars.rows}
  - get_title:
    expect: [{path: "\${env.KEY}", equals: "\${env.TITLE}"}, {schema: {const: "\${env.TITLE}"}}]
`
    expect(errorsOf(script, check)).toBe('')
    expect(errorsOf(script)).toContain('environment variable PASSWORD is not set')
  })

  test('still reports other errors of the same values', () => {
    const script = 'vars: {a: "${env.A}"}\nsteps:\n  - evaluate: ${env.A.b} ${vars.b} ${vars.a}\n  - clik: ${env.A}\n'
    expect(errorsOf(script, check).match(/^main.*$/gm)).toEqual([
      'main.yaml:3:15: ${env.A.b}: write ${env.NAME}',
      'main.yaml:3:26: ${vars.b}: vars has no "b" (did you mean "a"?)',
      'main.yaml:4:5: unknown command "clik" (did you mean "click"?)',
    ])
  })

  test('reports an included file that it cannot find without them', () => {
    expect(errorsOf('steps:\n  - include: ${env.FILE}\n', check)).toContain(
      'main.yaml:2:14: include must be the path of a file, known before the script runs: set the environment variable in it',
    )
  })
})

test('reports all errors of a script at once', () => {
  const script = 'steps:\n  - clik: a\n  - get_text: ${x1}\n  - get_title:\n    retry: -1\nfinally:\n  - hoover: b\n'
  expect(errorsOf(script).match(/^main\.yaml:\d+:\d+/gm)).toEqual([
    'main.yaml:2:5',
    'main.yaml:3:15',
    'main.yaml:5:12',
    'main.yaml:7:5',
  ])
})
