/** Numbers as letters, for the markers of lists. */

const romans = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const

/** Returns a number from 1 to 4999 in Roman numerals, others in digits. */
export function roman(value: number): string {
  if (value < 1 || value > 4999) return String(value)
  let [text, left] = ['', value]
  for (const [worth, sign] of romans) for (; left >= worth; left -= worth) text += sign
  return text
}

/** Returns a, b, … z, aa, ab, as browsers do, for a number of at least 1. */
export function letters(value: number): string {
  let text = ''
  for (let left = value; left > 0; left = Math.floor((left - 1) / 26))
    text = String.fromCodePoint(97 + ((left - 1) % 26)) + text
  return text
}
