/** Elements that the content of a page is limited to. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { listOf } from '../fields.ts'

const selectors = listOf(z.string().min(1).max(limits.input.selectorChars)).optional()

export const tagFields = {
  include_tags: selectors.describe(
    'CSS selectors or tag names of the only elements to keep, or patterns between asterisks; they replace the main content',
  ),
  exclude_tags: selectors.describe(
    'CSS selectors or tag names of elements to remove, or patterns between asterisks: *cookie* is found in tags and attributes',
  ),
}
