// Takes a screenshot of a program in a real terminal: runs it in tmux, sends keys, and draws the terminal.
//   node scripts/pictures.js --out tui.png [--size 100x30] [--light] [--keys 'Down Enter'] [--wait 'text'] -- bax tui
// `--keys` (names of tmux, by spaces), `--type` (text) and `--wait` (for a text) may be repeated and run in order.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright'

/** Timeout for a text to appear, in milliseconds. */
const patienceMs = 30_000

const themes = {
  dark: { back: '#16181d', fore: '#d7dae0' },
  light: { back: '#ffffff', fore: '#24292f' },
}
const sixteen = {
  dark: '#3b4048 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #abb2bf #5c6370 #ff7b86 #b5e890 #ffd68a #7cc0ff #d7a1f9 #6fd3de #ffffff',
  light:
    '#24292f #cf222e #116329 #7d5600 #0969da #8250df #1b7c83 #6e7781 #57606a #a40e26 #1a7f37 #633c01 #218bff #a475f9 #3192aa #8c959f',
}

/** Opens a separate terminal, which ends with `close`. */
export function openTerminal({ columns, rows, env = {} }) {
  const name = `bax-picture-${process.pid}`
  const tmux = (...argv) => execFileSync('tmux', ['-L', name, '-f', '/dev/null', ...argv], { encoding: 'utf8' })
  const variables = Object.entries({ COLORTERM: 'truecolor', ...env }).flatMap(([key, value]) => [
    '-e',
    `${key}=${value}`,
  ])
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...variables, 'bash --norc')
  tmux('set', '-ga', 'terminal-overrides', ',*:Tc')
  return {
    run: (line) => tmux('send-keys', '-l', `clear; ${line}\n`),
    press: (key) => tmux('send-keys', key),
    type: (text) => tmux('send-keys', '-l', text),
    text: () => tmux('capture-pane', '-p'),
    styled: () => tmux('capture-pane', '-p', '-e', '-N'),
    async says(wanted) {
      for (const end = Date.now() + patienceMs; Date.now() < end; await pause(100))
        if (this.text().includes(wanted)) return
      throw new Error(`the terminal does not say ${wanted}:\n${this.text()}`)
    },
    close: () => tmux('kill-server'),
  }
}

/** Returns the contents of a terminal as an HTML page. */
export function pageOf(styled, theme) {
  const { back, fore } = themes[theme]
  // Styles at the end of a line continue on the next one.
  const state = {}
  const lines = styled
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => lineOf(line, theme, state))
  // At this size a character of these fonts is 9 pixels wide, which avoids seams between half blocks.
  return `<!doctype html><meta charset="utf-8"><style>
    body{margin:0;background:${back};color:${fore}}
    pre{margin:0;padding:14px;display:inline-block;font:14.95px/18px 'DejaVu Sans Mono','Liberation Mono',monospace}
    div{height:18px;white-space:pre}span{display:inline-block;height:18px;overflow:hidden;vertical-align:top}
  </style><pre>${lines.join('')}</pre>`
}

function lineOf(line, theme, state) {
  let html = ''
  for (const part of line.split(/(\u001B\[[\d;:]*m)/)) {
    if (part.startsWith('\u001B[')) change(state, part.slice(2, -1).split(/[;:]/).map(Number), theme)
    else if (part !== '') html += spanOf(part, state, theme)
  }
  return `<div>${html || ' '}</div>`
}

/** Draws half blocks as two colours, without the gaps of fonts. */
function spanOf(text, { fore, back, bold, dim, inverse }, theme) {
  const [front, ground] = [fore ?? themes[theme].fore, back ?? themes[theme].back]
  const [ink, paper] = inverse ? [ground, front] : [front, ground]
  const weight = `${bold ? 'font-weight:bold;' : ''}${dim ? 'opacity:.6;' : ''}`
  const escaped = (piece) => piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return text
    .split(/(▀+)/)
    .filter(Boolean)
    .map((piece) =>
      piece.startsWith('▀')
        ? `<span style="background:linear-gradient(${ink} 50%,${paper} 50%)">${' '.repeat(piece.length)}</span>`
        : `<span style="color:${ink};${inverse || back ? `background:${paper};` : ''}${weight}">${escaped(piece)}</span>`,
    )
    .join('')
}

function change(next, codes, theme) {
  const palette = sixteen[theme].split(' ')
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]
    if (!code) for (const name of Object.keys(next)) delete next[name]
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 7) next.inverse = true
    else if (code === 22) next.bold = next.dim = false
    else if (code === 27) next.inverse = false
    else if (code === 39) delete next.fore
    else if (code === 49) delete next.back
    else if (code === 38 || code === 48) {
      const isDirect = codes[at + 1] === 2
      const colour = isDirect ? `rgb(${codes.slice(at + 2, at + 5).join(',')})` : of256(codes[at + 2], palette)
      next[code === 38 ? 'fore' : 'back'] = colour
      at += isDirect ? 4 : 2
    } else if (code >= 30 && code <= 37) next.fore = palette[code - 30]
    else if (code >= 40 && code <= 47) next.back = palette[code - 40]
    else if (code >= 90 && code <= 97) next.fore = palette[code - 82]
    else if (code >= 100 && code <= 107) next.back = palette[code - 92]
  }
}

function of256(index, palette) {
  if (index < 16) return palette[index]
  if (index >= 232) return `rgb(${Array(3).fill(8 + (index - 232) * 10)})`
  const part = (value) => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return `rgb(${[Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(part)})`
}

/** Takes a screenshot of a page; if `file` ends in .html, writes the page without a browser. */
export async function draw(html, file, scale = 2) {
  if (file.endsWith('.html')) return writeFileSync(file, html)
  await browse(scale, { width: 2200, height: 1400 }, async (page) => {
    await page.setContent(html)
    await page.locator('pre').screenshot({ path: file })
  })
}

/** Runs a function with a page of a separate browser. */
export async function browse(deviceScaleFactor, viewport, work) {
  const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', process.env.BAX_BROWSER].find(
    isThere,
  )
  const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] })
  try {
    await work(await browser.newPage({ deviceScaleFactor, viewport }))
  } finally {
    await browser.close()
  }
}

function isThere(path) {
  try {
    return Boolean(path && execFileSync('test', ['-x', path]))
  } catch {
    return false
  }
}

async function main(argv) {
  const end = argv.indexOf('--')
  const flags = argv.slice(0, end)
  const value = (name, usual) => (flags.includes(name) ? flags[flags.indexOf(name) + 1] : usual)
  const [columns, rows] = value('--size', '100x30').split('x').map(Number)
  const terminal = openTerminal({ columns, rows })
  try {
    terminal.run(
      argv
        .slice(end + 1)
        .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
        .join(' '),
    )
    for (const [at, flag] of flags.entries()) {
      if (flag === '--wait') await terminal.says(flags[at + 1])
      if (flag === '--keys') for (const key of flags[at + 1].split(' ')) terminal.press(key)
      if (flag === '--type') terminal.type(flags[at + 1])
    }
    await pause(1000)
    await draw(pageOf(terminal.styled(), flags.includes('--light') ? 'light' : 'dark'), value('--out', 'terminal.png'))
  } finally {
    terminal.close()
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2))
