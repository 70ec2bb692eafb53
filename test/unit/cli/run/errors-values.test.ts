import { describe } from 'vitest'
import { reportsErrors } from './reading.ts'

describe('a reference', () => {
  reportsErrors(
    'to an unknown name gets a suggestion',
    'steps:\n  - get_title:\n    save: heading\n  - get_text: a ${headin} b\n',
    `main.yaml:4:17: \${headin} is not defined (did you mean "heading"?)
  4 |   - get_text: a \${headin} b
    |                 ^^^^^^^^^`,
  )
  reportsErrors(
    'cannot refer to later steps',
    'steps:\n  - get_text: ${later}\n  - get_title:\n    save: later\n',
    `main.yaml:2:15: \${later} is not defined: no earlier step saves "later" (write $\${ for a literal \${)
  2 |   - get_text: \${later}
    |               ^^^^^^^^`,
  )
  reportsErrors(
    'cannot refer to the item of a loop after the loop',
    'steps:\n  - evaluate: ${item}\n    for_each: [a]\n  - evaluate: ${item}\n',
    `main.yaml:4:15: \${item} is not defined: no earlier step saves "item" (write $\${ for a literal \${)
  4 |   - evaluate: \${item}
    |               ^^^^^^^`,
  )
  reportsErrors(
    'to a variable must begin with vars',
    'vars: {base: http://x}\nsteps:\n  - navigate_to: ${base}\n  - navigate_to: ${vars.bse}\n',
    `main.yaml:3:18: \${base} is not defined (did you mean "vars.base"?)
  3 |   - navigate_to: \${base}
    |                  ^^^^^^^

main.yaml:4:18: \${vars.bse}: vars has no "bse" (did you mean "base"?)
  4 |   - navigate_to: \${vars.bse}
    |                  ^^^^^^^^^^^`,
  )
  reportsErrors(
    'to a missing part of a variable is an error',
    'vars: {user: {name: ann}, list: [1]}\nsteps:\n  - evaluate: ${vars.user.nme}\n  - evaluate: ${vars.list[3]}\n  - evaluate: ${vars.user.name.x}\n',
    `main.yaml:3:15: \${vars.user.nme}: vars.user has no "nme" (did you mean "name"?)
  3 |   - evaluate: \${vars.user.nme}
    |               ^^^^^^^^^^^^^^^^

main.yaml:4:15: \${vars.list[3]}: vars.list has 1 items, but no 3
  4 |   - evaluate: \${vars.list[3]}
    |               ^^^^^^^^^^^^^^^

main.yaml:5:15: \${vars.user.name.x}: vars.user.name is a string, which has no "x"
  5 |   - evaluate: \${vars.user.name.x}
    |               ^^^^^^^^^^^^^^^^^^^`,
  )
  reportsErrors(
    'to a missing environment variable is an error',
    'steps:\n  - evaluate: ${env.NOPE}\n  - evaluate: ${env.A.b}\n  - evaluate: ${run.ide}\n',
    `main.yaml:2:15: \${env.NOPE}: environment variable NOPE is not set
  2 |   - evaluate: \${env.NOPE}
    |               ^^^^^^^^^^^

main.yaml:3:15: \${env.A.b}: write \${env.NAME}
  3 |   - evaluate: \${env.A.b}
    |               ^^^^^^^^^^

main.yaml:4:15: \${run.ide}: run has no "ide" (did you mean "id"?)
  4 |   - evaluate: \${run.ide}
    |               ^^^^^^^^^^`,
  )
  reportsErrors(
    'must be valid and closed',
    'steps:\n  - evaluate: a ${b c} ${d\n',
    `main.yaml:2:17: \${b c} is not a reference: write \${name}, \${name.key} or \${name[0]}, and $\${ for a literal \${
  2 |   - evaluate: a \${b c} \${d
    |                 ^^^^^^

main.yaml:2:24: \${ is not closed: write \${name}, \${name.key} or \${name[0]}, and $\${ for a literal \${
  2 |   - evaluate: a \${b c} \${d
    |                        ^^`,
  )
  reportsErrors(
    'is reported on its line of a longer text',
    'steps:\n  - evaluate: |\n      const a = 1\n      return ${nope} + a\n',
    `main.yaml:4:14: \${nope} is not defined: no earlier step saves "nope" (write $\${ for a literal \${)
  4 |       return \${nope} + a
    |              ^^^^^^^`,
  )
})

describe('an expectation', () => {
  reportsErrors(
    'refuses unknown conditions and wrong types',
    'steps:\n  - get_title:\n    expect: {equls: 3, count: many}\n',
    `main.yaml:3:14: equls is not a known field (did you mean "equals"?)
  3 |     expect: {equls: 3, count: many}
    |              ^^^^^

main.yaml:3:31: count must be a number
  3 |     expect: {equls: 3, count: many}
    |                               ^^^^`,
  )
  reportsErrors(
    'must have a condition',
    'steps:\n  - get_title:\n    expect: {path: a}\n  - get_title:\n    expect: Welcome\n',
    `main.yaml:3:13: expect has no condition: add equals, contains, matches, exists, count, less, greater, status_code, schema, screenshot
  3 |     expect: {path: a}
    |             ^^^^^^^^^

main.yaml:5:13: expect must be a mapping such as {equals: …}, or a list of such mappings
  5 |     expect: Welcome
    |             ^^^^^^^`,
  )
  reportsErrors(
    'must have a condition in an empty list or mapping, too',
    'steps:\n  - get_title:\n    expect: []\n  - get_title:\n    expect: [{}]\n',
    `main.yaml:3:13: expect has no condition: add equals, contains, matches, exists, count, less, greater, status_code, schema, screenshot
  3 |     expect: []
    |             ^^
  also at main.yaml:5:14`,
  )
  reportsErrors(
    'requires a valid regular expression, path and schema',
    "steps:\n  - get_title:\n    expect: {matches: '('}\n  - get_title:\n    expect: {path: 'a b', exists: true}\n  - get_title:\n    expect:\n      schema:\n        properties: {a: {type: strin}}\n",
    `main.yaml:3:23: matches is not a regular expression: /(/: Unterminated group
  3 |     expect: {matches: '('}
    |                       ^^^

main.yaml:5:20: path must be like items[0].name
  5 |     expect: {path: 'a b', exists: true}
    |                    ^^^^^

main.yaml:9:32: schema is not a JSON Schema: type must be equal to one of the allowed values
  9 |         properties: {a: {type: strin}}
    |                                ^^^^^`,
  )
  reportsErrors(
    'of a screenshot requires a file and known limits',
    'steps:\n  - get_title:\n    expect: {screenshot: {max_diff_pixel: 3}}\n',
    `main.yaml:3:14: screenshot.path is required
  3 |     expect: {screenshot: {max_diff_pixel: 3}}
    |              ^^^^^^^^^^

main.yaml:3:27: screenshot.max_diff_pixel is not a known field (did you mean "max_diff_pixels"?)
  3 |     expect: {screenshot: {max_diff_pixel: 3}}
    |                           ^^^^^^^^^^^^^^`,
  )
})
