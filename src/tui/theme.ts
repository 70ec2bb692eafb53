/** Colours by meaning; their names come from the terminal's own palette, which fits light and dark backgrounds. */
import type { Terminal } from './host.ts'

/** 0: none; 1: 16 colours; 2: 256 colours; 3: true colour. */
export type ColourDepth = 0 | 1 | 2 | 3

export type Theme = ReturnType<typeof themeOf>

/** Returns how many colours the terminal shows, according to its environment variables. */
export function colourDepth({ env, stdout }: Terminal): ColourDepth {
  const { TERM: term = '', COLORTERM: colour = '', TERM_PROGRAM: program = '' } = env
  if (env['NO_COLOR'] || !stdout.isTTY || term === 'dumb') return 0
  if (/truecolor|24bit/i.test(colour) || /kitty|ghostty|wezterm|alacritty|direct/i.test(`${term} ${program}`)) return 3
  return /256/.test(term) || /iTerm|vscode|Apple_Terminal/.test(program) ? 2 : 1
}

export function themeOf(depth: ColourDepth) {
  const colour = (name: string) => (depth === 0 ? undefined : name)
  return { depth, accent: colour('cyan'), good: colour('green'), bad: colour('red'), notable: colour('yellow') }
}
