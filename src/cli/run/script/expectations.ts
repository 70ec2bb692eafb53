/** Reads `expect:` of a step, and finds what is wrong with it before anything runs. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkValue } from './check.ts'
import type { Path } from './document.ts'
import type { FaultList } from './script-errors.ts'
import type { Expectation } from './plan.ts'
import { later, parsePath } from './references.ts'
import type { StaticScope } from './scope.ts'
import { expectationShape, screenshotShape } from './shape.ts'

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
  // Of two forms the one that was begun is the one that was meant.
  const screenshot = screenshotShape.options[typeof known['screenshot'] === 'object' ? 1 : 0]
  const shape = expectationShape.extend({ screenshot: screenshot.optional() })
  checkValue({ schema: shape, value: known, locate: (path) => [...at, ...path] }, faults)
  if (Object.keys(item).every((key) => key === 'path')) {
    faults.add(at, `expect says nothing: add ${Object.keys(expectationShape.shape).filter((key) => key !== 'path').join(', ')}`) // prettier-ignore
  }
  const { matches, schema, path } = known
  if (typeof matches === 'string') {
    const message = faultOf(() => expression(matches))
    if (message) faults.add([...at, 'matches'], `matches is not a regular expression: ${message}`)
  }
  if (typeof schema === 'object' && schema !== null) {
    checkSchema(schema, [...at, 'schema'], faults)
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
    return (error as Error).message.replace(/^Invalid regular expression: /, '')
  }
}

const newAjv = () => new Ajv2020({ strict: false, allErrors: true, logger: false })

function checkSchema(schema: object, at: Path, faults: FaultList): void {
  const ajv = newAjv()
  if (ajv.validateSchema(schema)) {
    const message = faultOf(() => newAjv().compile(schema))
    if (message) faults.add(at, `schema is not a JSON Schema: ${message}`)
    return
  }
  const seen = new Set<string>()
  for (const { instancePath, message = 'is wrong' } of ajv.errors ?? []) {
    // Of what is wrong with one keyword the first says most.
    if (seen.has(instancePath)) continue
    seen.add(instancePath)
    const path = instancePath.split('/').slice(1)
    faults.add([...at, ...path], `schema is not a JSON Schema: ${path.at(-1) ?? 'it'} ${message}`)
  }
}

/** `text` or `/text/flags`. @throws SyntaxError */
export function expression(text: string): RegExp {
  const slashed = /^\/(.+)\/([a-z]*)$/s.exec(text)
  return slashed ? new RegExp(slashed[1]!, slashed[2]) : new RegExp(text)
}

/** A check of values against a JSON Schema (2020-12). @throws Error when it is none. */
export function validator(schema: object): (value: unknown) => string[] {
  const validate = newAjv().compile(schema)
  return (value) => {
    if (validate(value)) return []
    return validate.errors!.map(
      ({ instancePath, message = 'is wrong' }) =>
        `${instancePath ? instancePath.slice(1).replaceAll('/', '.') : 'the value'} ${message}`,
    )
  }
}
