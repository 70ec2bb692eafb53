/** Reads and validates the input of an operation from a request. */
import type { Operation } from '../../core/operation/operation.ts'
import { assertSize } from '../../core/operation/input/input-size.ts'
import { limits } from '../../core/limits/limits.ts'
import type { z } from 'zod'
import { parseText } from '../../core/operation/params.ts'
import { wireNameOf } from '../../core/operation/input/schema-fields.ts'
import { paramsOf } from '../../core/operation/schema-params.ts'
import { type ParsedInput, validateInput } from '../../core/operation/input/valid-input.ts'
import { type BodyRules, parseJsonText, readJsonBody } from './json-body.ts'

interface InputRules extends Partial<BodyRules> {
  /** False if the body is not JSON but bytes for the operation. */
  readonly hasJson?: boolean
}

/**
 * Merges path, query and body, and validates the result.
 * @throws BaxError `invalid_json`, `unsupported_media_type`, `payload_too_large` or `invalid_request`.
 */
export async function readInput(
  request: Request,
  schema: z.ZodObject,
  path: Record<string, string>,
  rules?: InputRules,
): Promise<ParsedInput> {
  return validateFields(request, schema, await readFields(request, schema, path, rules))
}

/** Merges path, query and body, which are not validated except for their size. @throws BaxError as `readInput` does */
export async function readFields(
  request: Request,
  schema: z.ZodObject,
  path: Record<string, string>,
  { hasJson = true, maxBytes = limits.bodyBytes, ...rules }: InputRules = {},
): Promise<Record<string, unknown>> {
  const query = readQuery(request.url, schema)
  const body = !hasJson || isBodiless(request.method) ? {} : await readJsonBody(request, { maxBytes, ...rules })
  assertSize(schema, body)
  return { ...query, ...body, ...path }
}

/** Whether the body of a request is ignored. */
export const isBodiless = (method: string): boolean => ['GET', 'HEAD', 'DELETE'].includes(method)

/** Merges path, query and body of a request within the process, as `readFields` does. */
export function fieldsOf(
  {
    url,
    body,
    path,
  }: { readonly url: string; readonly body: string | undefined; readonly path: Record<string, string> },
  { input, bodyBytes = limits.bodyBytes }: Pick<Operation, 'input' | 'bodyBytes'>,
): Record<string, unknown> {
  const fields = body === undefined ? {} : parseJsonText(body, bodyBytes)
  assertSize(input, fields)
  return { ...readQuery(url, input), ...fields, ...path }
}

/** Validates the fields of a request. @throws BaxError `invalid_request` */
export function validateFields(
  { headers }: Pick<Request, 'headers'>,
  schema: z.ZodObject,
  fields: Record<string, unknown>,
): ParsedInput {
  return validateInput(schema, fields, headers.get('prefer')?.includes('handling=strict') ?? false)
}

function readQuery(url: string, schema: z.ZodObject): Record<string, unknown> {
  // Most requests have no query; parsing the URL and the first look-up of a schema's parameters are slow.
  if (!url.includes('?')) return {}
  const search = new URL(url).searchParams
  if (search.size === 0) return {}
  const params = new Map(paramsOf(schema).map((param) => [param.name, param]))
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const param = params.get(wireNameOf(schema.shape, name, {}))
      const text = search.getAll(name).join(',')
      return [name, param ? parseText(param, text) : text]
    }),
  )
}
