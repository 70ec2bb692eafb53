/** A Playwright trace without secrets: it holds every text that was typed and every page as it was. */
import { unzipSync, zipSync } from 'fflate'
import type { Mask } from './script/secrets.ts'

/** Rewrites the texts inside the zip that have secrets in them; pictures and a trace without any stay as they are. */
export function maskTrace(zip: Uint8Array, mask: Mask): Uint8Array {
  const entries = unzipSync(zip)
  let changed = false
  const masked = Object.entries(entries).map(([name, bytes]) => {
    const other = isPicture(name) ? undefined : mask.bytes(bytes)
    changed ||= other !== undefined
    return [name, other ?? bytes] as const
  })
  return changed ? zipSync(Object.fromEntries(masked), { level: 6 }) : zip
}

const isPicture = (name: string) => /\.(png|jpe?g|webp|gif|woff2?)$/i.test(name)
