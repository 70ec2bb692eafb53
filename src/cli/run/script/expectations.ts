/** Reads and checks `expect:` of a step before anything runs. */
import { messageOf } from '../../../core/errors/errors.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkValue } from './check.ts'
import type { Path } from './document.ts'
import type { ScriptErrorList } from './script-errors.ts'
import type { Expectation } from './plan.ts'
import { hasPlaceholder, parsePath, placeholder, unsetVariable } from './references.ts'
import { knownValue, readTemplate, type StaticScope } from './scope.ts'
import { expectationShape, screenshotShape } from './shape.ts'

const withoutCondition = `expect has no condition: add ${Object.keys(expectationShape.shape)
  .filter((key) => key !== 'path')
  .join(', ')}`

/** Reads one expectation, or a list of them about different parts of the result. */
export function readExpectations(value: unknown, at: Path, scope: StaticScope): Expectation[] {
  if (Array.isArray(value) && value.length === 0) scope.errors.add(at, withoutCondition)
  if (Array.isArray(value)) return value.flatMap((item, index) => readExpectation(item, [...at, index], scope))
  return readExpectation(value, at, scope)
}

function readExpectation(item: unknown, at: Path, scope: StaticScope): Expectation[] {
  const { errors } = scope
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    errors.add(at, 'expect must be a mapping such as {equals: …}, or a list of such mappings')
    return []
  }
  const template = readTemplate(item, at, scope)
  const known = knownValue(template, scope) as Record<string, unknown>
  // Check against the form that was used, for precise errors.
  const screenshot = screenshotShape.options[typeof known['screenshot'] === 'object' ? 1 : 0]
  const shape = expectationShape.extend({ screenshot: screenshot.optional() })
  checkValue(shape, known, errors, (path) => [...at, ...path])
  if (Object.keys(item).every((key) => key === 'path')) errors.add(at, withoutCondition)
  const { matches, schema, path } = known
  if (typeof matches === 'string') {
    const message = errorOf(() => expression(matches))
    if (message) errors.add([...at, 'matches'], `matches is not a regular expression: ${message}`)
  }
  if (typeof schema === 'object' && schema !== null && !hasPlaceholder(schema))
    checkSchema(schema, [...at, 'schema'], errors)
  const pathText = path === undefined ? '' : String(path)
  const parsed = parsePath(pathText)
  if (path === placeholder) errors.add([...at, 'path'], 'path must be known before the script runs')
  else if (!parsed && path !== unsetVariable) errors.add([...at, 'path'], 'path must be like items[0].name')
  return parsed ? [{ path: parsed, pathText, template }] : []
}

function errorOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return messageOf(error).replace(/^Invalid regular expression: /, '')
  }
}

const newAjv = () => new Ajv2020({ strict: false, allErrors: true, logger: false })

function checkSchema(schema: object, at: Path, errors: ScriptErrorList): void {
  const ajv = newAjv()
  if (ajv.validateSchema(schema)) {
    const message = errorOf(() => newAjv().compile(schema))
    if (message) errors.add(at, `schema is not a JSON Schema: ${message}`)
    return
  }
  const seen = new Set<string>()
  for (const { instancePath, message = 'is wrong' } of ajv.errors ?? []) {
    // The first error of a keyword is the most precise one.
    if (seen.has(instancePath)) continue
    seen.add(instancePath)
    const path = instancePath.split('/').slice(1)
    errors.add([...at, ...path], `schema is not a JSON Schema: ${path.at(-1) ?? 'it'} ${message}`)
  }
}

/** Parses a regular expression, `text` or `/text/flags`. @throws SyntaxError */
export function expression(text: string): RegExp {
  const [, source = text, flags] = /^\/(.+)\/([a-z]*)$/s.exec(text) ?? []
  return new RegExp(source, flags)
}

/** Compiles a JSON Schema (2020-12) to a function that returns the errors of a value. @throws Error when invalid. */
export function validator(schema: object): (value: unknown) => string[] {
  const validate = newAjv().compile(schema)
  return (value) => {
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = 'is wrong' }) =>
        `${instancePath ? instancePath.slice(1).replaceAll('/', '.') : 'the value'} ${message}`,
    )
  }
}
