/** Terms of use that sites state for programs: content signals (https://contentsignals.org) and licenses. */
import { z } from 'zod'

/** Name of a signal, such as `search`, `ai-input` or `ai-train`. */
const name = '[a-z][a-z0-9-]{0,63}'

export const contentSignals = z
  .record(z.string(), z.enum(['yes', 'no']))
  .describe('What the site allows programs to do with its content, such as {"search": "yes", "ai-train": "no"}')

export type ContentSignals = z.output<typeof contentSignals>

export const respectedSignals = z
  .array(z.string().regex(new RegExp(`^${name}=no$`), 'must be a signal and =no, such as ai-input=no'))
  .max(10)
  .optional()
  .describe('Content signals that make the crawl skip a page, such as ai-input=no')

const signal = new RegExp(`^${name}=(?:yes|no)$`)
const maxSignals = 32

/** Returns the signals in values of `Content-Signal`. Of two that contradict each other, the one with `no` applies. */
export function signalsIn(values: readonly string[]): ContentSignals {
  const all = values
    .flatMap((value) => value.split(','))
    .map((part) => part.replaceAll(/\s/g, '').toLowerCase())
    .filter((part) => signal.test(part))
    .slice(0, maxSignals)
    .map((part) => part.split('=') as [string, 'yes' | 'no'])
  const [allowed, refused] = [all.filter(([, value]) => value === 'yes'), all.filter(([, value]) => value === 'no')]
  return Object.fromEntries([...allowed, ...refused])
}

/** Whether one of the signals is to be respected. */
export const isRefused = (respected: readonly string[] = [], signals: ContentSignals = {}): boolean =>
  Object.entries(signals).some((pair) => respected.includes(pair.join('=')))
