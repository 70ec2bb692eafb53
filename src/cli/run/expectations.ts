/** Reads `expect:` of a step, and finds what is wrong with it before anything runs. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkValue } from './check.ts'
import type { Path } from './document.ts'
import type { FaultList } from './faults.ts'
import type { Expectation } from './plan.ts'
import { later, parsePath } from './references.ts'
import type { StaticScope } from './scope.ts'
import { expectationShape } from './shape.ts'

/** One mapping, or a list of them about different parts of the result. */
export function readExpectations(value: unknown, at: Path, scope: StaticScope, faults: FaultList): Expectation[] {
  const list = Array.isArray(value)
    ? value.map((item: unknown, index) => ({ item, place: [...at, index] }))
    : [{ item: value, place: at }]
  return list.flatMap(({ item, place }) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) {
      faults.add(place, 'expect must be a mapping such as {equals: …}, or a list of such mappings')
      return []
    }
    const read = readExpectation(item as Record<string, unknown>, place, scope, faults)
    return read ? [read] : []
  })
}

function readExpectation(
  item: Record<string, unknown>,
  at: Path,
  scope: StaticScope,
  faults: FaultList,
): Expectation | undefined {
  const template = scope.template(item, at)
  const known = scope.value(template) as Record<string, unknown>
  checkValue({ schema: expectationShape, value: known, locate: (path) => [...at, ...path] }, faults)
  if (Object.keys(item).every((key) => key === 'path')) {
    faults.add(at, `expect says nothing: add ${Object.keys(expectationShape.shape).filter((key) => key !== 'path').join(', ')}`) // prettier-ignore
  }
  const { matches, schema, path } = known
  if (typeof matches === 'string') {
    const message = faultOf(() => expression(matches))
    if (message) faults.add([...at, 'matches'], `matches is not a regular expression: ${message}`)
  }
  if (typeof schema === 'object' && schema !== null) {
    const message = faultOf(() => validator(schema))
    if (message) faults.add([...at, 'schema'], `schema is not a JSON Schema: ${message}`)
  }
  const pathText = path === undefined ? '' : String(path)
  const parsed = parsePath(pathText)
  if (path === later) faults.add([...at, 'path'], 'path must be known before the script runs')
  else if (!parsed) faults.add([...at, 'path'], 'path must be like items[0].name')
  return parsed && { path: parsed, pathText, template }
}

function faultOf(make: () => unknown): string | undefined {
  try {
    make()
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^Invalid regular expression: /, '').replace(/^schema is invalid: /, '')
  }
}

/** `text` or `/text/flags`. @throws SyntaxError */
export function expression(text: string): RegExp {
  const slashed = /^\/(.+)\/([a-z]*)$/s.exec(text)
  return slashed ? new RegExp(slashed[1]!, slashed[2]) : new RegExp(text)
}

/** A check of values against a JSON Schema (2020-12). @throws Error when it is none. */
export function validator(schema: object): (value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  const validate = ajv.compile(schema)
  return (value) => {
    if (validate(value)) return []
    return validate.errors!.map(
      ({ instancePath, message = 'is wrong' }) =>
        `${instancePath ? instancePath.slice(1).replaceAll('/', '.') : 'the value'} ${message}`,
    )
  }
}
