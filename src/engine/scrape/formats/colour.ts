/** Parses CSS colours and computes their saturation and contrast. */

export interface Colour {
  readonly red: number
  readonly green: number
  readonly blue: number
  readonly alpha: number
}

/** Parses `#rgb`, `#rrggbb`, `rgb()` and `rgba()`, the forms of computed styles and of most custom properties. */
export function parseColour(text: string): Colour | undefined {
  const hex = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.exec(text.trim())?.[1]
  if (hex) {
    const full = hex.length < 6 ? [...hex].map((digit) => digit + digit).join('') : hex
    const part = (at: number) => Number.parseInt(full.slice(at, at + 2), 16)
    return { red: part(0), green: part(2), blue: part(4), alpha: full.length === 8 ? part(6) / 255 : 1 }
  }
  const inside = /^rgba?\(([^)]+)\)$/i.exec(text.trim())?.[1]
  if (!inside) return undefined
  const [red, green, blue, alpha = 1] = inside
    .split(/[\s,/]+/)
    .filter(Boolean)
    .map((part) => (part.endsWith('%') ? Number.parseFloat(part) / 100 : Number(part)))
  if (red === undefined || green === undefined || blue === undefined || Number.isNaN(red + green + blue))
    return undefined
  return { red, green, blue, alpha }
}

export const hexOf = ({ red, green, blue }: Colour): string =>
  `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`.toUpperCase()

/** Returns the saturation: 0 for greys, 1 for pure colours. */
export function saturation({ red, green, blue }: Colour): number {
  const most = Math.max(red, green, blue)
  return most === 0 ? 0 : (most - Math.min(red, green, blue)) / most
}

/** Whether a colour is black, white or grey. */
export const isNeutral = (colour: Colour): boolean =>
  saturation(colour) < 0.12 || Math.max(colour.red, colour.green, colour.blue) < 24

/** Returns the contrast ratio of WCAG, from 1 to 21. */
export function contrast(a: Colour, b: Colour): number {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((one, other) => other - one) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance({ red, green, blue }: Colour): number {
  const [r, g, b] = [red, green, blue].map((part) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
