/** Masks secrets in Playwright traces, which contain typed texts and copies of pages. */
import { unzipSync, zipSync } from 'fflate'
import type { Mask } from './script/secrets.ts'

/** Masks the files inside the zip; images, and traces without secrets, stay unchanged. */
export function maskTrace(zip: Uint8Array, mask: Mask): Uint8Array {
  const entries = unzipSync(zip)
  let changed = false
  const masked = Object.entries(entries).map(([name, bytes]) => {
    const cleaned = isBinary(name) ? undefined : mask.bytes(bytes)
    changed ||= cleaned !== undefined
    return [name, cleaned ?? bytes] as const
  })
  return changed ? zipSync(Object.fromEntries(masked), { level: 6 }) : zip
}

const isBinary = (name: string) => /\.(png|jpe?g|webp|gif|woff2?)$/i.test(name)
