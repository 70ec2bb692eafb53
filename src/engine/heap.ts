/** Limit of the heap's growth between garbage collections. */
import { setFlagsFromString } from 'node:v8'

/** Growth in percent of the live heap. */
const growthPercent = 100

/**
 * Makes V8 collect garbage when its heap has doubled. By default it waits until the heap has quadrupled, which
 * lets finished pages of a large crawl pile up (`npm run bench -- crawl`: node at 154 to 240 MB over 10 000 pages, with
 * this at 165 to 181). Applies to the whole process, including worker threads.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
