/** Runs in a page's isolated world: collects the Core Web Vitals of its document with the `web-vitals` library. */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals'

type Vitals = Record<string, { value: number; rating: string }>

/** Where the collected values are kept between calls; the page cannot see this world. */
const world = globalThis as { __bax_vitals?: Vitals }

/** Duration of the shortest interactions that browsers report. */
const leastMs = 16

/** Starts to collect, once per document, and returns the values so far. The browser also reports earlier entries. */
export function collect(): Vitals {
  if (!world.__bax_vitals) {
    const vitals: Vitals = (world.__bax_vitals = {})
    // The library waits for an idle period, which a headless browser may not have for seconds after an input.
    globalThis.requestIdleCallback = (callback) => setTimeout(callback, 0) as unknown as number
    const add = ({ name, value, rating }: Metric) => void (vitals[name] = { value, rating })
    for (const measure of [onCLS, onFCP, onLCP, onTTFB]) measure(add, { reportAllChanges: true })
    onINP(add, { reportAllChanges: true, durationThreshold: leastMs })
  }
  return world.__bax_vitals
}
