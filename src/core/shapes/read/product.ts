/** The format product: what a page says about the product that it is about. */
import { z } from 'zod'
import { named } from '../fields.ts'

const text = z.string().optional()

const sources = ['json-ld', 'microdata', 'rdfa', 'opengraph', 'page'] as const

const price = z.object({
  text: z.string().describe('As written'),
  amount: z.number().optional().describe('Absent if the text has no number'),
  from: z.boolean().optional().describe('Whether it is the lowest of several prices'),
  highest: z.number().optional().describe('Highest of several prices'),
})

const identifiers = z
  .object({ sku: text, gtin: text, mpn: text, isbn: text, product_id: text })
  .describe('As written; gtin includes EAN and UPC')

/** Facts that a product and each of its variants have. */
const facts = {
  name: text,
  price: price.optional(),
  currency: text.describe('ISO 4217 code, only if the page states one'),
  availability: text.describe(
    'in_stock, out_of_stock, sold_out, limited_availability, pre_order, back_order, discontinued, …; another word as written',
  ),
  url: text,
  identifiers: identifiers.optional(),
}

export const product = named('Product', {
  ...facts,
  brand: text,
  description: text,
  images: z.array(z.string()).describe('URLs'),
  options: z
    .array(z.object({ name: z.string(), values: z.array(z.string()) }))
    .describe('Choices that the page offers, such as sizes'),
  variants: z.array(
    z.object({
      ...facts,
      images: z.array(z.string()).optional(),
      options: z.record(z.string(), z.string()).optional(),
    }),
  ),
  sources: z.array(z.enum(sources)).describe('Where the facts are from; page: visible text'),
  conflicts: z
    .array(z.object({ field: z.string(), values: z.array(z.object({ source: z.enum(sources), value: z.string() })) }))
    .describe('Fields about which sources disagree, with the value of each'),
})

export type Product = z.output<typeof product>
export type ProductPrice = z.output<typeof price>
export type ProductVariant = Product['variants'][number]
export type ProductSource = (typeof sources)[number]
