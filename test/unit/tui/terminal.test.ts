import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Key } from 'ink'
import { Keyboard, levels, parseKeys } from '../../../src/tui/keyboard.ts'
import { graphicsQuery, parseReplies } from '../../../src/tui/image/graphics.ts'
import { plain } from '../../../src/core/text/plain.ts'
import { cut, fit, wrap } from '../../../src/tui/terminal/plain.ts'
import { Input } from '../../../src/tui/terminal/input.ts'
import { Screen } from '../../../src/tui/terminal/screen.ts'
import { colourDepth } from '../../../src/tui/theme.ts'

/** A fake terminal that records its output. */
class Output extends EventEmitter {
  columns = 20
  rows = 4
  isTTY = true
  text = ''
  write(chunk: string): boolean {
    this.text += chunk
    return true
  }
  /** Returns the output since the last call. */
  takeOutput(): string {
    const { text } = this
    this.text = ''
    return text
  }
}

function openScreen() {
  const out = new Output()
  const screen = new Screen(out as never)
  screen.open()
  out.takeOutput()
  return { out, screen }
}

describe('the screen', () => {
  test('writes only the lines that changed', () => {
    const { out, screen } = openScreen()
    screen.write('one\ntwo\nthree')
    out.takeOutput()
    screen.write('one\nTWO\nthree')
    expect(out.takeOutput()).toBe('\u001B[?2026h\u001B[2;1H\u001B[0m\u001B[2KTWO\u001B[0m\u001B[?2026l')
    screen.write('one\nTWO\nthree')
    expect(out.takeOutput()).toBe('')
  })

  test('redraws an image only on lines where the text below it changed', () => {
    const { out, screen } = openScreen()
    screen.write('one\ntwo\nthree')
    screen.place(Symbol('picture'), { x: 5, y: 0, height: 2, lines: ['AAA', 'BBB'] })
    expect(out.takeOutput()).toContain('\u001B[1;6HAAA')
    screen.write('one\nTWO\nthree')
    const text = out.takeOutput()
    expect(text).toContain('\u001B[2;6HBBB')
    expect(text).not.toContain('AAA')
  })

  test('redraws the text where an image was removed', () => {
    const { out, screen } = openScreen()
    const key = Symbol('picture')
    screen.write('one\ntwo')
    screen.place(key, { x: 0, y: 1, height: 1, lines: ['AAA'] })
    out.takeOutput()
    screen.place(key, null)
    expect(out.takeOutput()).toContain('two')
  })

  test('redraws everything after a resize, and emits "resize"', () => {
    const { out, screen } = openScreen()
    screen.write('one\ntwo')
    out.takeOutput()
    let emitted = 0
    screen.on('resize', () => (emitted += 1))
    out.rows = 10
    out.emit('resize')
    screen.write('one\ntwo\n')
    expect(out.takeOutput()).toContain('one')
    expect(emitted).toBe(1)
  })

  test('restores the terminal once, and writes nothing afterwards', () => {
    const { out, screen } = openScreen()
    screen.close()
    expect(out.takeOutput()).toContain('\u001B[?1049l')
    screen.close()
    screen.write('too late')
    expect(out.takeOutput()).toBe('')
  })
})

describe('text of pages', () => {
  test('cannot control the terminal', () => {
    expect(plain('a\u001B[31mb\u001B]0;title\u0007c\u009B2Jd\u202Ee\rf')).toBe('abc2Jdef')
  })

  test('is measured by columns, not by characters', () => {
    expect(fit('日本語', 5)).toBe('日本…')
    expect(fit('ab', 4)).toBe('ab  ')
    expect(fit('7', 3, 'right')).toBe('  7')
    expect(cut('hello', 3)).toBe('he…')
    expect(wrap('the quick brown fox', 10)).toEqual(['the quick', 'brown fox'])
    expect(wrap('日本語日本語', 6)).toEqual(['日本語', '日本語'])
  })
})

describe('the input', () => {
  const escape = '\u001B'
  const query = { ...graphicsQuery, timeoutMs: 0 }

  function openInput() {
    const terminal = Object.assign(new PassThrough(), { setRawMode: () => undefined, ref: () => undefined })
    const input = new Input(terminal as never, () => undefined)
    input.open()
    const arrives = (text: string) => {
      terminal.emit('data', Buffer.from(text))
      return String(input.read() ?? '')
    }
    return { input, arrives }
  }

  test('returns replies that are split among keys, and passes the keys on', async () => {
    const { input, arrives } = openInput()
    const replies = input.readReplies({ ...query, timeoutMs: 60_000 })
    expect(arrives(`j${escape}`)).toBe('j')
    expect(arrives('[?62;')).toBe('')
    expect(arrives('4ck')).toBe('k')
    expect(await replies).toBe(`${escape}[?62;4c`)
    expect(arrives(escape)).toBe(escape)
  })

  test('takes late replies for no keys, and holds no key back', async () => {
    const { input, arrives } = openInput()
    const replies = input.readReplies(query)
    expect(arrives(escape)).toBe('')
    expect(await replies).toBe('')
    expect(String(input.read())).toBe(escape)
    expect(arrives(escape)).toBe(escape)
    expect(arrives(`${escape}_Gi=31;OK${escape}\\${escape}[6;18;9t${escape}[?1;`)).toBe('')
    expect(arrives('2cq')).toBe('q')
    expect(arrives('?')).toBe('?')
  })
})

const key = (given: Partial<Key> = {}) => given as Key

describe('keys', () => {
  test('that arrive together are split', () => {
    expect(parseKeys('\u0015ab\r', key()).map(({ name }) => name)).toEqual(['ctrl+u', 'ab', 'enter'])
    expect(parseKeys('', key({ upArrow: true }))).toEqual([{ name: 'up', text: '' }])
    expect(parseKeys('r', key({ ctrl: true }))).toEqual([{ name: 'ctrl+r', text: '' }])
  })

  test('go to the topmost layer that binds them, and to none below a modal layer', async () => {
    const keyboard = new Keyboard()
    const received: string[] = []
    const layer =
      (name: string, keys: string[], isModal = false) =>
      () => ({
        title: name,
        isModal,
        bindings: [{ keys, label: 'test', run: (pressed: string) => void received.push(`${name} ${pressed}`) }],
      })
    keyboard.add(levels.program, layer('program', ['q', 'x']))
    keyboard.add(levels.screen, layer('screen', ['x']))
    keyboard.feed(parseKeys('xq', key()))
    await expect.poll(() => received).toEqual(['screen x', 'program q'])
    const close = keyboard.add(levels.dialog, layer('dialog', ['y'], true))
    keyboard.feed(parseKeys('yq', key()))
    await expect.poll(() => received.at(-1)).toBe('dialog y')
    close()
    keyboard.feed(parseKeys('q', key()))
    await expect.poll(() => received.slice(2)).toEqual(['dialog y', 'program q'])
  })
})

describe('terminal detection', () => {
  const depth = (env: Record<string, string>) =>
    colourDepth({ env, stdout: { isTTY: true } as never, stdin: {} as never })

  test('finds the number of colours; NO_COLOR takes precedence', () => {
    expect(depth({ TERM: 'xterm', COLORTERM: 'truecolor' })).toBe(3)
    expect(depth({ TERM: 'screen-256color' })).toBe(2)
    expect(depth({ TERM: 'linux' })).toBe(1)
    expect(depth({ TERM: 'xterm-kitty', NO_COLOR: '1' })).toBe(0)
  })

  test('finds the graphics protocol', () => {
    const cell = '\u001B[6;20;10t'
    expect(parseReplies(`\u001B_Gi=31;OK\u001B\\${cell}\u001B[?62;c`, 3)).toMatchObject({
      kind: 'kitty',
      cell: { width: 10, height: 20 },
    })
    expect(parseReplies(`${cell}\u001B[?62;4;22c`, 3).kind).toBe('sixel')
    expect(parseReplies(`${cell}\u001B[?1;2c`, 3).kind).toBe('text')
    // Graphics need the size of a cell.
    expect(parseReplies('\u001B[?62;4c', 3).kind).toBe('text')
  })
})
