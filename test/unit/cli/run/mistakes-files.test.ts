import { describe, expect, test } from 'vitest'
import { mistakes, says } from './reading.ts'

describe('the head of a script', () => {
  says(
    'has known keys',
    'sesion: {}\nname: [x]\nsteps: [get_title]\n',
    `main.yaml:1:1: sesion is not a known field (did you mean "session"?)
  1 | sesion: {}
    | ^^^^^^

main.yaml:2:7: name must be a string
  2 | name: [x]
    |       ^^^`,
  )
  says(
    'has steps',
    'name: x\n',
    `main.yaml:1:1: steps is required
  1 | name: x
    | ^^^^^^^`,
  )
  says(
    'has a list of steps that is not empty',
    'steps: []\nfinally: 3\n',
    `main.yaml:1:8: steps must not be empty
  1 | steps: []
    |        ^^

main.yaml:2:10: finally must be a list
  2 | finally: 3
    |          ^`,
  )
  says(
    'is a mapping',
    '- get_title\n',
    `main.yaml:1:1: a script is a mapping with a list of steps
  1 | - get_title
    | ^^^^^^^^^^^`,
  )
  says(
    'is there',
    '',
    `main.yaml:1:1: the file is empty: a script is a mapping with a list of steps
  1 | 
    | ^`,
  )
  says(
    'makes a session with its known fields',
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
  says(
    'makes a session or uses one',
    'session: {session_id: shop, locale: de-DE}\nsteps: [get_title]\n',
    `main.yaml:1:29: locale is for a new session, and session_id names one that is there
  1 | session: {session_id: shop, locale: de-DE}
    |                             ^^^^^^`,
  )
  says(
    'names one profile',
    'session: {profile: a, profile_id: 7b0c3ad2-7a5d-4c8e-9d9c-2f6f0f4f3a11}\nsteps: [get_title]\n',
    `main.yaml:1:11: profile and profile_id both name a profile: one is enough
  1 | session: {profile: a, profile_id: 7b0c3ad2-7a5d-4c8e-9d9c-2f6f0f4f3a11}
    |           ^^^^^^^`,
  )
  says(
    'names a session by text',
    'session: 3\nvars: [a]\nsteps: [get_title]\n',
    `main.yaml:1:10: session must be the id or name of a session, or a mapping
  1 | session: 3
    |          ^

main.yaml:2:7: vars must be a mapping
  2 | vars: [a]
    |       ^^^`,
  )
  says(
    'names secrets that are there',
    'secrets: [PASSWORD, 3]\nsteps: [get_title]\n',
    `main.yaml:1:11: the environment has no PASSWORD
  1 | secrets: [PASSWORD, 3]
    |           ^^^^^^^^

main.yaml:1:21: secrets[1] must be a string
  1 | secrets: [PASSWORD, 3]
    |                     ^`,
  )
  says(
    'has variables that are known from the start',
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
  test('is there', () => {
    expect(mistakes('steps:\n  - include: nope.yaml\n')).toBe(`main.yaml:2:14: there is no file nope.yaml
  2 |   - include: nope.yaml
    |              ^^^^^^^^^`)
  })

  test('does not include, over others, itself', () => {
    const files = { 'main.yaml': 'steps:\n  - include: b.yaml\n', 'b.yaml': 'steps:\n  - include: main.yaml\n' }
    expect(mistakes(files)).toBe(`b.yaml:2:14: include goes in a circle: main.yaml -> b.yaml -> main.yaml
  2 |   - include: main.yaml
    |              ^^^^^^^^^`)
  })

  test('has its mistakes told in its own lines, once', () => {
    const files = {
      'main.yaml': 'steps:\n  - include: b.yaml\n  - include: b.yaml\n',
      'b.yaml': 'steps:\n  - clik: a\n',
    }
    expect(mistakes(files)).toBe(`b.yaml:2:5: unknown command "clik" (did you mean "click"?)
  2 |   - clik: a
    |     ^^^^`)
  })

  test('gets variables that it has', () => {
    const files = {
      'main.yaml': 'steps:\n  - include: b.yaml\n    vars: {usr: ann}\n',
      'b.yaml': 'vars: {user: x}\nsteps:\n  - get_text: ${vars.user}\n',
    }
    expect(mistakes(files)).toBe(`main.yaml:3:12: b.yaml has no variable "usr" (did you mean "user"?)
  3 |     vars: {usr: ann}
    |            ^^^`)
  })

  test('has no result of its own', () => {
    const files = { 'main.yaml': 'steps:\n  - include: b.yaml\n    save: x\n', 'b.yaml': 'steps: [get_title]\n' }
    expect(mistakes(files)).toBe(`main.yaml:3:5: save belongs to the steps of the included file
  3 |     save: x
    |     ^^^^`)
  })

  test('is named before the run', () => {
    expect(mistakes('steps:\n  - get_title:\n    save: a\n  - include: ${a}\n')).toBe(
      `main.yaml:4:14: include must be the path of a file, known before the script runs
  4 |   - include: \${a}
    |              ^^^^`,
    )
  })
})

describe('the text of a script', () => {
  says(
    'is YAML, and only its first break is told',
    'steps:\n  - click: [a\n  - click: b}\n',
    `main.yaml:3:3: not valid YAML: flow sequence in block collection must be sufficiently indented and end with a ]
  3 |   - click: b}
    |   ^`,
  )
  says(
    'has no key twice',
    'name: a\nname: b\nsteps: [get_title]\n',
    `main.yaml:2:1: not valid YAML: map keys must be unique
  2 | name: b
    | ^`,
  )
  says(
    'quotes references inside braces',
    'steps:\n  - click: {selector: ${vars.a}}\n',
    `main.yaml:2:24: not valid YAML: inside {…} and […] a reference needs quotes, "\${vars.a}"
  2 |   - click: {selector: \${vars.a}}
    |                        ^`,
  )
  says(
    'has anchors for its aliases',
    'steps:\n  - click: *buy\n',
    `main.yaml:2:12: *buy: nothing above is marked &buy
  2 |   - click: *buy
    |            ^^^^`,
  )
  says(
    'may have tabs before a mistake',
    'steps:\n  - click: "a\t${b c}"\n',
    `main.yaml:2:15: \${b c} is not a reference: write \${name}, \${name.key} or \${name[0]}, and $\${ for a literal \${
  2 |   - click: "a\t\${b c}"
    |              \t^^^^^^`,
  )
  test('may be one long line of JSON, of which the neighbourhood is shown', () => {
    const text = `{"commands":[${'{"command":"get_title"},'.repeat(10)}{"command":"clik"}]}`
    expect(mistakes({ 'main.json': text }, {}, 'main.json')).toBe(
      `main.json:1:265: commands[10].command: unknown command "clik" (did you mean "click"?)
  1 | …le"},{"command":"get_title"},{"command":"clik"}]}
    |                                          ^^^^^^`,
    )
  })
})

describe('a plain body', () => {
  test('is checked as the service checks it, with places', () => {
    const text =
      '{\n\t"commands": [\n\t\t{"command": "click", "data": {"selectr": "a"}}\n\t],\n\t"contnue_on_error": true\n}'
    expect(mistakes({ 'main.json': text }, {}, 'main.json')).toBe(
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

test('all mistakes of a script are told at once', () => {
  const script = 'steps:\n  - clik: a\n  - get_text: ${x1}\n  - get_title:\n    retry: -1\nfinally:\n  - hoover: b\n'
  expect(mistakes(script).match(/^main\.yaml:\d+:\d+/gm)).toEqual([
    'main.yaml:2:5',
    'main.yaml:3:15',
    'main.yaml:5:12',
    'main.yaml:7:5',
  ])
})
