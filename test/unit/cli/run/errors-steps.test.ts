import { describe } from 'vitest'
import { reportsErrors } from './reading.ts'

describe('a command', () => {
  reportsErrors(
    'that is misspelled gets a suggestion',
    "steps:\n  - clik: '#buy'\n",
    `main.yaml:2:5: unknown command "clik" (did you mean "click"?)
  2 |   - clik: '#buy'
    |     ^^^^`,
  )
  reportsErrors(
    'that is misspelled without fields gets a suggestion',
    'steps:\n  - get_titel\n',
    `main.yaml:2:5: unknown command "get_titel" (did you mean "get_title"?)
  2 |   - get_titel
    |     ^^^^^^^^^`,
  )
  reportsErrors('may be spelled as on the command line', 'steps:\n  - navigate-to: http://x\n', '')
  reportsErrors(
    'that is misspelled in the long form gets a suggestion',
    'steps:\n  - command: clik\n    data: {selector: a}\n',
    `main.yaml:2:14: unknown command "clik" (did you mean "click"?)
  2 |   - command: clik
    |              ^^^^`,
  )
  reportsErrors(
    'must be text in the long form',
    'steps:\n  - command: 3\n',
    `main.yaml:2:14: command must be the name of a command
  2 |   - command: 3
    |              ^`,
  )
  reportsErrors(
    'reports a missing required field',
    'steps:\n  - click:\n',
    `main.yaml:2:5: selector is required
  2 |   - click:
    |     ^^^^^`,
  )
  reportsErrors(
    'refuses one value for two fields',
    "steps:\n  - type_text: '#q'\n",
    `main.yaml:2:16: type_text needs selector and text: write a mapping, or a list in this order
  2 |   - type_text: '#q'
    |                ^^^^`,
  )
  reportsErrors(
    'refuses too many values',
    'steps:\n  - type_text: [a, b, c]\n',
    `main.yaml:2:16: type_text takes a list of selector, text, or a mapping
  2 |   - type_text: [a, b, c]
    |                ^^^^^^^^^`,
  )
  reportsErrors(
    'refuses a value when it has no fields',
    'steps:\n  - get_title: 3\n',
    `main.yaml:2:16: get_title takes no value
  2 |   - get_title: 3
    |                ^`,
  )
  reportsErrors(
    'refuses unknown fields',
    'steps:\n  - type_text: {selector: a, texxt: b}\n',
    `main.yaml:2:5: text is required
  2 |   - type_text: {selector: a, texxt: b}
    |     ^^^^^^^^^

main.yaml:2:30: texxt is not a known field (did you mean "text"?)
  2 |   - type_text: {selector: a, texxt: b}
    |                              ^^^^^`,
  )
  reportsErrors(
    'refuses fields of the wrong type, also in the short form',
    'steps:\n  - wait_for_element: {selector: [a], timeout_ms: -1}\n  - navigate_to: [{}]\n',
    `main.yaml:2:34: selector must be a string
  2 |   - wait_for_element: {selector: [a], timeout_ms: -1}
    |                                  ^^^

main.yaml:2:51: timeout_ms must be at least 0
  2 |   - wait_for_element: {selector: [a], timeout_ms: -1}
    |                                                   ^^

main.yaml:3:19: url must be a string
  3 |   - navigate_to: [{}]
    |                   ^^`,
  )
  reportsErrors(
    'in list form reports errors at the item',
    'steps:\n  - set_cookie: [a, [b]]\n',
    `main.yaml:2:21: value must be a string
  2 |   - set_cookie: [a, [b]]
    |                     ^^^`,
  )
  reportsErrors(
    'of the shell requires a shell',
    'steps:\n  - shell_exec: ls\n',
    `main.yaml:2:5: shell_exec needs a shell: create one in an earlier step, or set session_id
  2 |   - shell_exec: ls
    |     ^^^^^^^^^^`,
  )
})

describe('a step', () => {
  reportsErrors(
    'must have exactly one command',
    'steps:\n  - click: a\n    hover: b\n',
    `main.yaml:3:5: a step must have exactly one command, not "click" and "hover"
  3 |     hover: b
    |     ^^^^^`,
  )
  reportsErrors(
    'must have a command',
    'steps:\n  - name: Buy\n',
    `main.yaml:2:5: the step has no command
  2 |   - name: Buy
    |     ^^^^^^^^^`,
  )
  reportsErrors(
    'must be a name or a mapping',
    'steps:\n  - 5\n',
    `main.yaml:2:5: a step must be the name of a command, or a mapping with one command
  2 |   - 5
    |     ^`,
  )
  reportsErrors(
    'suggests names for misspelled keys',
    'steps:\n  - click: a\n    timeout: 5\n    contineu_on_error: true\n',
    `main.yaml:3:5: unknown key "timeout" (did you mean "timeout_ms"?)
  3 |     timeout: 5
    |     ^^^^^^^

main.yaml:4:5: unknown key "contineu_on_error" (did you mean "continue_on_error"?)
  4 |     contineu_on_error: true
    |     ^^^^^^^^^^^^^^^^^`,
  )
  reportsErrors(
    'refuses options of the wrong type',
    'steps:\n  - click: a\n    retry: often\n    timeout_ms: 0\n    continue_on_error: 3\n    name: [x]\n',
    `main.yaml:3:12: retry must be a number
  3 |     retry: often
    |            ^^^^^

main.yaml:4:17: timeout_ms must be at least 1
  4 |     timeout_ms: 0
    |                 ^

main.yaml:5:24: continue_on_error must be true or false
  5 |     continue_on_error: 3
    |                        ^

main.yaml:6:11: name must be a string
  6 |     name: [x]
    |           ^^^`,
  )
  reportsErrors(
    'refuses a retry without a count or with unknown fields',
    'steps:\n  - click: a\n    retry: {cont: 3}\n',
    `main.yaml:3:5: retry.count is required
  3 |     retry: {cont: 3}
    |     ^^^^^

main.yaml:3:13: retry.cont is not a known field (did you mean "count"?)
  3 |     retry: {cont: 3}
    |             ^^^^`,
  )
  reportsErrors(
    'refuses invalid and reserved names for save',
    "steps:\n  - get_title:\n    save: 'my title'\n  - get_title:\n    save: env\n",
    `main.yaml:3:11: save must be a name of letters, digits, _ and -
  3 |     save: 'my title'
    |           ^^^^^^^^^^

main.yaml:5:11: "env" is a reserved name (vars, env, run, session): choose another name
  5 |     save: env
    |           ^^^`,
  )
  reportsErrors(
    'refuses invalid conditions',
    'steps:\n  - get_title:\n    when: a and b\n  - get_title:\n    when: [x]\n',
    `main.yaml:3:11: when must be "\${name}", "!\${name}", "\${name} == value" or "\${name} != value"
  3 |     when: a and b
    |           ^^^^^^^

main.yaml:5:11: when must be a reference, a comparison, or true or false
  5 |     when: [x]
    |           ^^^`,
  )
  reportsErrors(
    'refuses for_each without a list, and as without for_each or with a reserved name',
    'vars: {n: 3}\nsteps:\n  - get_title:\n    for_each: ${vars.n}\n  - get_title:\n    as: row\n  - get_title:\n    for_each: [1]\n    as: run\n',
    `main.yaml:4:15: for_each must be a list, or a reference to one
  4 |     for_each: \${vars.n}
    |               ^^^^^^^^^

main.yaml:6:5: as is only allowed with for_each
  6 |     as: row
    |     ^^

main.yaml:9:9: "run" is a reserved name (vars, env, run, session): choose another name
  9 |     as: run
    |         ^^^`,
  )
  reportsErrors(
    'refuses data outside the long form, and vars without include',
    'steps:\n  - click: a\n    data: {}\n  - click: a\n    vars: {}\n  - command: click\n    data: x\n',
    `main.yaml:3:5: data is only allowed in the long form, {command: click, data: …}
  3 |     data: {}
    |     ^^^^

main.yaml:5:5: vars is only allowed with include
  5 |     vars: {}
    |     ^^^^

main.yaml:7:11: data must be an object
  7 |     data: x
    |           ^`,
  )
  reportsErrors(
    'requires the number of retries before the run',
    'steps:\n  - get_title:\n    save: n\n  - get_title:\n    retry: ${n}\n',
    `main.yaml:5:12: retry must be known before the script runs
  5 |     retry: \${n}
    |            ^^^^`,
  )
})

describe('an option of a step at the wrong place', () => {
  const withColon = (indent: number) =>
    `expect belongs to the step above: write "- get_title:" with a colon, and "expect:" on the next line, indented by ${indent} spaces`
  reportsErrors(
    'below the name of a command without a colon needs the colon',
    'steps:\n  - get_title\n    expect: {equals: x}\n  - get_title\n',
    `main.yaml:3:5: ${withColon(4)}
  3 |     expect: {equals: x}
    |     ^^^^^^`,
  )
  reportsErrors(
    'is explained after comments, with other options after it',
    'steps:\n  - get_title # heading\n\n    expect:\n      equals: x\n    save: title\n',
    `main.yaml:4:5: ${withColon(4)}
  4 |     expect:
    |     ^^^^^^`,
  )
  reportsErrors(
    'is explained in the column of the dash',
    'steps:\n  - get_title\n  expect: {equals: x}\n',
    `main.yaml:3:3: ${withColon(4)}
  3 |   expect: {equals: x}
    |   ^^^^^^`,
  )
  reportsErrors(
    'is explained as a key of the script',
    'steps:\n- get_title\nexpect: {equals: x}\n',
    `main.yaml:3:1: ${withColon(2)}
  3 | expect: {equals: x}
    | ^^^^^^`,
  )
  reportsErrors(
    'is explained as a step of its own',
    'steps:\n  - get_title\n  - expect: {equals: x}\n  - click: a\n  - save: x\n',
    `main.yaml:3:5: ${withColon(4)}
  3 |   - expect: {equals: x}
    |     ^^^^^^^^^^^^^^^^^^^

main.yaml:5:5: save belongs to the step above: write it without "-", indented by 4 spaces like "click"
  5 |   - save: x
    |     ^^^^^^^`,
  )
  reportsErrors(
    'is explained as a field of the command',
    'steps:\n  - get_title:\n      expect: {equals: x}\n',
    `main.yaml:3:7: expect belongs to the step above: write it indented by 4 spaces like "get_title"
  3 |       expect: {equals: x}
    |       ^^^^^^`,
  )
  reportsErrors(
    'is explained below a command with a value',
    'steps:\n  - click: a\n   retry: 3\n',
    `main.yaml:3:4: retry belongs to the step above: write it indented by 4 spaces like "click"
  3 |    retry: 3
    |    ^^^^^`,
  )
  reportsErrors(
    'is not mistaken for a key of the script after the steps',
    'steps:\n  - get_title\nvars: {a: 1\n',
    `main.yaml:4:1: invalid YAML: flow map in block collection must be sufficiently indented and end with a }
  4 | 
    | ^`,
  )
})
