/** The format attributes: values of attributes of the elements that match selectors. */
import { z } from 'zod'
import { limits } from '../../limits/limits.ts'
import { listOf } from '../fields.ts'

const { input } = limits

const selectorAndName = {
  selector: z.string().min(1).max(input.selectorChars).describe('CSS selector'),
  attribute: z.string().trim().min(1).max(input.nameChars).describe('Name of an attribute'),
}

/** Options of the format. */
export const attributesOptions = z.object({
  selectors: listOf(z.object(selectorAndName)).min(1).describe('Elements, and the attribute to read from each'),
})

export const attributeValues = z
  .array(z.object({ ...selectorAndName, values: z.array(z.string()) }))
  .describe('Values as written in the page, in its order; elements without the attribute have none')

export type AttributeSelector = z.output<typeof attributesOptions>['selectors'][number]
export type AttributeValues = z.output<typeof attributeValues>
