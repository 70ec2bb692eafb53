/** How far the memory of the process may grow before it is tidied. */
import { setFlagsFromString } from 'node:v8'

/** In percent of what lives in it. */
const growthPercent = 100

/**
 * Lets V8 look for garbage when its heap has doubled. By itself it waits for up to four times what lives there, which
 * a crawl of many pages fills with pages long done (`npm run bench -- crawl`: node at 154 to 240 MB over 10 000 pages,
 * with this at 165 to 181). It concerns the whole process, its threads too.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`)
}
