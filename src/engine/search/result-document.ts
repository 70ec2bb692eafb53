/** The result page of a search engine in a browser. */
import { BaxError } from '../../core/errors/errors.ts'
import {
  attribute,
  classes,
  type ElementNode,
  elementsOf,
  findElement,
  type Tree,
  visibleText,
} from '../extract/tree.ts'
import type { ProviderResult } from './provider.ts'
import { squeeze } from '../../core/text/pieces.ts'

export interface ResultDocument {
  readonly tree: Tree
  readonly status: number
}

/** Opens a URL in a browser without state of earlier visits. */
export type OpenResults = (url: string, signal: AbortSignal) => Promise<ResultDocument>

export const isOfClass = (element: ElementNode, name: string): boolean => classes(element).includes(name)

export const allOfClass = (root: ElementNode, name: string): ElementNode[] =>
  [...elementsOf(root)].filter((element) => isOfClass(element, name))

export const firstOfClass = (root: ElementNode, name: string): ElementNode | undefined =>
  findElement(root, (element) => isOfClass(element, name))

export const hasId = (root: ElementNode, id: string): boolean =>
  findElement(root, (element) => attribute(element, 'id') === id) !== undefined

/** Returns the result with this link and text; nothing without a link. */
export const resultOf = (link: ElementNode | undefined, snippet: ElementNode | undefined): ProviderResult[] =>
  link ? [{ url: attribute(link, 'href'), title: textIn(link), description: snippet ? textIn(snippet) : '' }] : []

const textIn = (element: ElementNode): string => squeeze(visibleText(element))

/** @throws BaxError if the status is an error, whatever the page shows. */
export function checkStatus({ status }: ResultDocument): void {
  if (status === 429) throw new BaxError('rate_limited', 'its rate limit is reached (status 429)')
  if (status === 403) throw new BaxError('provider_blocked', 'it rejected the request (status 403)')
  if (status >= 400) throw new BaxError('provider_failed', `it failed (status ${status})`)
}

export const automationDetected = (): BaxError =>
  new BaxError('provider_blocked', 'it detected automation and shows a challenge instead of results')

export const unknownFormat = (): BaxError => new BaxError('provider_failed', 'its result page has an unknown format')
