/** The json format: data that match a schema, extracted by a language model if one is configured, else by rules. */
import { type StructuredResult, structuredOf } from '../../extract/structured.ts'
import { isRecord, properSchema } from '../../extract/structured/shape.ts'
import { checkFor } from '../../extract/structured/validate.ts'
import { element, type PageDocument, treeOf } from '../documents/document.ts'
import { type Extractors, modelFailure } from './extractors.ts'

export interface JsonOptions {
  readonly prompt?: string
  readonly schema?: Record<string, unknown>
  /** Path of the schema in the input, for errors. */
  readonly schemaField?: string
}

/** @throws BaxError `invalid_request` that names the field of an invalid schema. */
export function checkSchema({ schema, schemaField }: JsonOptions): void {
  if (schema) checkFor(properSchema(schema), schemaField)
}

export async function jsonOf({ prompt, schema }: JsonOptions, document: PageDocument, extractors: Extractors) {
  const { model } = extractors
  const request = { query: prompt ?? '', ...(schema && { schema }) }
  // A JSON document needs no extraction, unless a schema or a prompt for a model is given.
  if (document.value !== undefined && !schema && !(prompt && model)) {
    return asResult({ value: document.value, source: 'heuristic', valid: true, errors: [], warnings: [] })
  }
  const tree = document.value === undefined ? document.tree : dataTree(document)
  if (!model) return asResult(await structuredOf(tree, request))
  try {
    return asResult(await structuredOf(tree, request, model))
  } catch (error) {
    const why = modelFailure(error, extractors)
    const result = asResult(await structuredOf(tree, request))
    return { ...result, warnings: [`${why}: the json was extracted by rules`, ...result.warnings] }
  }
}

function asResult({ value, source, valid, errors, warnings }: StructuredResult) {
  return {
    value,
    metadata: { json_source: source, json_valid: valid, ...(errors.length > 0 && { json_errors: errors }) },
    warnings: [...(valid ? [] : [`the json does not fit the schema: ${errors.join('; ')}`]), ...warnings],
  }
}

/** Converts a JSON document to a page with the same structured data. */
function dataTree({ tree, value }: PageDocument) {
  const thing = isRecord(value) ? value : { items: value }
  const text = JSON.stringify({ '@context': 'https://schema.org', '@type': 'Thing', ...thing })
  return treeOf(tree.baseUrl, '', [
    element('script', { type: 'application/ld+json' }, text),
    element('pre', {}, JSON.stringify(value, null, 2)),
  ])
}
