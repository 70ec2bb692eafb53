/** Formats a count: `2 scripts`, `1 script`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
