/** Extracts structured data from a page: with a language model if one is configured, else by rules. */
import type { CommandContext, StructuredRequest } from '../../core/operation/command.ts'
import { limits } from '../../core/limits/limits.ts'
import type { LanguageModel } from '../language/model.ts'
import { toMarkdown } from './markdown.ts'
import { askModel } from './structured/ask.ts'
import { fill } from './structured/fill.ts'
import { entitiesOf } from './structured/linked-data.ts'
import { overview } from './structured/overview.ts'
import { cutToBudget } from './structured/relevance.ts'
import { pageScope } from './structured/scope.ts'
import { tableWarnings } from './structured/table-warnings.ts'
import { properSchema, shapeOf } from './structured/shape.ts'
import { type Check, checkFor } from './structured/validate.ts'
import { type ElementNode, isElement, isSilent, type Tree, type TreeNode } from './tree.ts'

export type StructuredResult = Awaited<ReturnType<CommandContext['structured']>>

/** Maximum length of the page's structured data in a prompt, in characters. */
const dataChars = 12_000

/**
 * Extracts structured data from a tree.
 * @throws BaxError `invalid_request` for an invalid schema; `model_failed`, `timeout`.
 */
export async function structuredOf(
  whole: Tree,
  request: StructuredRequest,
  model?: LanguageModel,
): Promise<StructuredResult> {
  const schema = request.schema && properSchema(request.schema)
  const check: Check = schema ? checkFor(schema) : () => []
  const tree = request.max_chars === undefined ? whole : { ...whole, root: shortened(whole.root, request.max_chars) }
  if (model) {
    const { value, errors } = await askModel(model, { query: request.query, schema }, materialOf(tree, request), check)
    return { value, source: 'model', valid: errors.length === 0, errors, warnings: [] }
  }
  const scope = pageScope(tree, request.query)
  const value = schema ? fill(shapeOf(schema), scope, request.query) : overview(tree, scope, request.query)
  const errors = check(value).map(({ message }) => message)
  const warnings = tableWarnings(scope.collections, value, schema !== undefined)
  return { value, source: 'heuristic', valid: errors.length === 0, errors, warnings }
}

function materialOf(tree: Tree, { query, schema, max_chars: most = limits.model.pageChars }: StructuredRequest) {
  const entities = entitiesOf(tree.root).map(({ types, fields }) => ({ type: types[0], ...fields }))
  const question = `${query} ${JSON.stringify(schema ?? {})}`
  const data = entities.length === 0 ? '' : JSON.stringify(entities)
  const budget = Math.min(most, limits.model.pageChars)
  return {
    url: tree.baseUrl,
    text: cutToBudget(toMarkdown(tree), question, budget),
    data: data.slice(0, Math.min(dataChars, budget)),
  }
}

/** Returns the beginning of a tree, up to `characters` of its text; scripts and metadata are kept. */
function shortened(root: ElementNode, characters: number): ElementNode {
  let left = characters
  const copy = (element: ElementNode): ElementNode => {
    const children: TreeNode[] = []
    for (const child of element.children) {
      if (isElement(child)) {
        if (left > 0 || isSilent(child)) children.push(isSilent(child) ? child : copy(child))
        continue
      }
      const text = child.text.slice(0, Math.max(0, left))
      left -= child.text.trim() === '' ? 1 : text.length
      if (text !== '') children.push({ text })
    }
    return { ...element, children }
  }
  return copy(root)
}
