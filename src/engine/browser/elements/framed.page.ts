/** Runs in the page: how a frame element is found again from its own document. */
import { elementName } from './describe.page.ts'
import { selectorMaker } from '../observe/selector.page.ts'

export const frameSelector = (element: Element): string => selectorMaker()(element)

export const nameOf = (element: Element): string => elementName(element)
