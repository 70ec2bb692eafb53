/** Icons: fonts draw them for characters of the private use areas, which are no part of what people read. */
import { replaceRuns } from '../../../core/text/pieces.ts'

/** One such character or white space, as a part of a regular expression without flags. */
export const iconOrSpace = String.raw`(?:[\s\uE000-\uF8FF]|[\uDB80-\uDBFF][\uDC00-\uDFFF])`

const icons = /[\uE000-\uF8FF\uDB80-\uDBFF]/
const runs = new RegExp(`${iconOrSpace}+`, 'g')

export const hasIcons = (text: string): boolean => icons.test(text)

/** Replaces icons, and the white space around, with a single space; removes it from both ends. */
export const withoutIcons = (text: string): string => replaceRuns(text, runs, ' ').trim()

/** Attributes with the tooltip of an element: libraries that draw tooltips move it to one of their own. */
export const tooltipAttributes = ['title', 'data-original-title', 'data-bs-original-title'] as const
