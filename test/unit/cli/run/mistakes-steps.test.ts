import { describe } from 'vitest'
import { says } from './reading.ts'

describe('a command', () => {
  says(
    'that does not exist is named with the one that was meant',
    "steps:\n  - clik: '#buy'\n",
    `main.yaml:2:5: unknown command "clik" (did you mean "click"?)
  2 |   - clik: '#buy'
    |     ^^^^`,
  )
  says(
    'may be misspelled without fields too',
    'steps:\n  - get_titel\n',
    `main.yaml:2:5: unknown command "get_titel" (did you mean "get_title"?)
  2 |   - get_titel
    |     ^^^^^^^^^`,
  )
  says(
    'in kebab-case is told its name in scripts',
    'steps:\n  - navigate-to: http://x\n',
    `main.yaml:2:5: unknown command "navigate-to" (did you mean "navigate_to"?)
  2 |   - navigate-to: http://x
    |     ^^^^^^^^^^^`,
  )
  says(
    'may be misspelled in the long form',
    'steps:\n  - command: clik\n    data: {selector: a}\n',
    `main.yaml:2:14: unknown command "clik" (did you mean "click"?)
  2 |   - command: clik
    |              ^^^^`,
  )
  says(
    'must be a name in the long form',
    'steps:\n  - command: 3\n',
    `main.yaml:2:14: command must be the name of a command
  2 |   - command: 3
    |              ^`,
  )
  says(
    'without its required field says which',
    'steps:\n  - click:\n',
    `main.yaml:2:5: selector is required
  2 |   - click:
    |     ^^^^^`,
  )
  says(
    'with one value for two fields asks for a mapping',
    "steps:\n  - type_text: '#q'\n",
    `main.yaml:2:16: type_text needs selector and text: write a mapping, or a list in this order
  2 |   - type_text: '#q'
    |                ^^^^`,
  )
  says(
    'with too many values says which it takes',
    'steps:\n  - type_text: [a, b, c]\n',
    `main.yaml:2:16: type_text takes a list of selector, text, or a mapping
  2 |   - type_text: [a, b, c]
    |                ^^^^^^^^^`,
  )
  says(
    'without fields takes no value',
    'steps:\n  - get_title: 3\n',
    `main.yaml:2:16: get_title takes no value
  2 |   - get_title: 3
    |                ^`,
  )
  says(
    'has no field that it does not know',
    'steps:\n  - type_text: {selector: a, texxt: b}\n',
    `main.yaml:2:5: text is required
  2 |   - type_text: {selector: a, texxt: b}
    |     ^^^^^^^^^

main.yaml:2:30: texxt is not a known field (did you mean "text"?)
  2 |   - type_text: {selector: a, texxt: b}
    |                              ^^^^^`,
  )
  says(
    'has fields of their types, the value of the short form too',
    'steps:\n  - wait_for_element: {selector: 3, timeout_ms: -1}\n  - navigate_to: 5\n',
    `main.yaml:2:34: selector must be a string
  2 |   - wait_for_element: {selector: 3, timeout_ms: -1}
    |                                  ^

main.yaml:2:49: timeout_ms must be at least 0
  2 |   - wait_for_element: {selector: 3, timeout_ms: -1}
    |                                                 ^^

main.yaml:3:18: url must be a string
  3 |   - navigate_to: 5
    |                  ^`,
  )
  says(
    'in a list has the faults at their places',
    'steps:\n  - set_cookie: [a, 3]\n',
    `main.yaml:2:21: value must be a string
  2 |   - set_cookie: [a, 3]
    |                     ^`,
  )
  says(
    'of the shell needs a shell',
    'steps:\n  - shell_exec: ls\n',
    `main.yaml:2:5: shell_exec needs a shell: make one with a step before, or give its session_id
  2 |   - shell_exec: ls
    |     ^^^^^^^^^^`,
  )
})

describe('a step', () => {
  says(
    'has one command',
    'steps:\n  - click: a\n    hover: b\n',
    `main.yaml:3:5: a step has one command, and this one has "click" and "hover"
  3 |     hover: b
    |     ^^^^^`,
  )
  says(
    'without a command says so',
    'steps:\n  - name: Buy\n',
    `main.yaml:2:5: the step has no command
  2 |   - name: Buy
    |     ^^^^^^^^^`,
  )
  says(
    'is a name or a mapping',
    'steps:\n  - 5\n',
    `main.yaml:2:5: a step is the name of a command, or a mapping with one command
  2 |   - 5
    |     ^`,
  )
  says(
    'has keys of its own that may be misspelled',
    'steps:\n  - click: a\n    timeout: 5\n    contineu_on_error: true\n',
    `main.yaml:3:5: unknown key "timeout" (did you mean "timeout_ms"?)
  3 |     timeout: 5
    |     ^^^^^^^

main.yaml:4:5: unknown key "contineu_on_error" (did you mean "continue_on_error"?)
  4 |     contineu_on_error: true
    |     ^^^^^^^^^^^^^^^^^`,
  )
  says(
    'has options of their types',
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
  says(
    'has a retry with a count and nothing unknown',
    'steps:\n  - click: a\n    retry: {cont: 3}\n',
    `main.yaml:3:5: retry.count is required
  3 |     retry: {cont: 3}
    |     ^^^^^

main.yaml:3:13: retry.cont is not a known field (did you mean "count"?)
  3 |     retry: {cont: 3}
    |             ^^^^`,
  )
  says(
    'saves under a name that is one, and free',
    "steps:\n  - get_title:\n    save: 'my title'\n  - get_title:\n    save: env\n",
    `main.yaml:3:11: save must be a name of letters, digits, _ and -
  3 |     save: 'my title'
    |           ^^^^^^^^^^

main.yaml:5:11: "env" has a meaning of its own (vars, env, run, session): choose another name
  5 |     save: env
    |           ^^^`,
  )
  says(
    'has a condition of the known form',
    'steps:\n  - get_title:\n    when: a and b\n  - get_title:\n    when: [x]\n',
    `main.yaml:3:11: when must be "\${name}", "!\${name}", "\${name} == value" or "\${name} != value"
  3 |     when: a and b
    |           ^^^^^^^

main.yaml:5:11: when must be a reference, a comparison, or true or false
  5 |     when: [x]
    |           ^^^`,
  )
  says(
    'goes through a list',
    'vars: {n: 3}\nsteps:\n  - get_title:\n    for_each: ${vars.n}\n  - get_title:\n    as: row\n  - get_title:\n    for_each: [1]\n    as: run\n',
    `main.yaml:4:15: for_each must be a list, or a reference to one
  4 |     for_each: \${vars.n}
    |               ^^^^^^^^^

main.yaml:6:5: as is the name of the item in for_each, which this step has not
  6 |     as: row
    |     ^^

main.yaml:9:9: "run" has a meaning of its own (vars, env, run, session): choose another name
  9 |     as: run
    |         ^^^`,
  )
  says(
    'has data only in the long form, and vars only with include',
    'steps:\n  - click: a\n    data: {}\n  - click: a\n    vars: {}\n  - command: click\n    data: x\n',
    `main.yaml:3:5: data goes with the long form, {command: click, data: …}
  3 |     data: {}
    |     ^^^^

main.yaml:5:5: vars in a step belong to include
  5 |     vars: {}
    |     ^^^^

main.yaml:7:11: data must be an object
  7 |     data: x
    |           ^`,
  )
  says(
    'knows before the run how often it is tried',
    'steps:\n  - get_title:\n    save: n\n  - get_title:\n    retry: ${n}\n',
    `main.yaml:5:12: retry must be known before the script runs
  5 |     retry: \${n}
    |            ^^^^`,
  )
})
