/** The json format: data in the shape of a schema, by a language model where one is set up, else by rules. */
import type { ScrapeMetadata } from '../../../core/shapes/scrape.ts'
import { type StructuredResult, structuredOf } from '../../extract/structured.ts'
import { properSchema } from '../../extract/structured/shape.ts'
import { checkFor } from '../../extract/structured/validate.ts'
import { element, type PageDocument, treeOf } from '../documents/document.ts'
import type { JsonWish } from '../plan.ts'
import { type Reader, whyNoModel } from './reader.ts'

export interface JsonResult {
  readonly value: unknown
  readonly metadata: Pick<ScrapeMetadata, 'json_source' | 'json_valid' | 'json_errors'>
  readonly warnings: readonly string[]
}

/** @throws BaxError `invalid_request` that names the field for a schema that is none. */
export function checkSchema({ schema, schemaField }: JsonWish): void {
  if (schema) checkFor(properSchema(schema), schemaField)
}

export async function jsonOf(wish: JsonWish, document: PageDocument, reader: Reader): Promise<JsonResult> {
  const { model } = reader
  const request = { query: wish.prompt ?? '', ...(wish.schema && { schema: wish.schema }) }
  // What is JSON already needs no reader, unless it is to have another shape.
  if (document.value !== undefined && !wish.schema && !(wish.prompt && model)) {
    return asResult({ value: document.value, source: 'heuristic', valid: true, errors: [] })
  }
  const tree = document.value === undefined ? document.tree : dataTree(document)
  if (!model) return asResult(await structuredOf(tree, request))
  try {
    return asResult(await structuredOf(tree, request, model))
  } catch (error) {
    const why = whyNoModel(error, reader)
    const result = asResult(await structuredOf(tree, request))
    return { ...result, warnings: [`${why}: the json was found by rules`, ...result.warnings] }
  }
}

function asResult({ value, source, valid, errors }: StructuredResult): JsonResult {
  return {
    value,
    metadata: { json_source: source, json_valid: valid, ...(errors.length > 0 && { json_errors: errors }) },
    warnings: valid ? [] : [`the json does not fit the schema: ${errors.join('; ')}`],
  }
}

/** A JSON document as a page that says the same of itself. */
function dataTree({ tree, value }: PageDocument) {
  const thing = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { items: value }
  const text = JSON.stringify({ '@context': 'https://schema.org', '@type': 'Thing', ...thing })
  return treeOf(tree.baseUrl, '', [element('script', { type: 'application/ld+json' }, text), element('pre', {}, JSON.stringify(value, null, 2))]) // prettier-ignore
}
