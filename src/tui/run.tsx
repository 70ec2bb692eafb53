/** Takes the terminal over for the UI, and hands it back as it was, however the UI ends. */
import chalk from 'chalk'
import { type Instance, render } from 'ink'
import { App } from './app.tsx'
import type { Desk } from './desk.ts'
import { Keyboard } from './keyboard.ts'
import { Link } from './link.ts'
import {
  answerMs,
  answerPattern,
  type Graphics,
  isWhole,
  mayAsk,
  question,
  readAnswers,
  textGraphics,
} from './picture/graphics.ts'
import { Input } from './terminal/input.ts'
import { Screen } from './terminal/screen.ts'
import { colourDepth } from './theme.ts'

/** Runs until the user leaves, or the signal of the desk says so. Throws what crashed it, with the terminal as it was. */
export async function runTui(desk: Desk): Promise<void> {
  const ui = new TerminalUi(desk)
  await ui.run()
}

class TerminalUi {
  readonly #desk: Desk
  readonly #screen: Screen
  readonly #input: Input
  readonly #link: Link
  readonly #keyboard = new Keyboard()
  #graphics: Graphics
  #ink: Instance | undefined
  /** Somebody else has the terminal. */
  #isAway = false
  readonly #ended: Promise<void>
  #end: (error?: unknown) => void = () => {}

  constructor(desk: Desk) {
    this.#desk = desk
    this.#screen = new Screen(desk.terminal.stdout)
    this.#input = new Input(desk.terminal.stdin)
    this.#link = new Link(desk)
    this.#graphics = textGraphics(colourDepth(desk.terminal))
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error as Error))
    })
  }

  async run(): Promise<void> {
    const { job, signal } = this.#desk
    const quit = () => this.#end()
    this.#keyboard.always.set('ctrl+c', quit)
    this.#keyboard.always.set('ctrl+z', () => this.#stop())
    this.#keyboard.always.set('ctrl+l', () => this.#redraw())
    const stopListening = [
      job?.onCrash((error) => this.#end(error)),
      job?.onStopRequest(() => this.#stop()),
      job?.onContinue(() => this.#redraw()),
      // The last resort, for an end that nobody has seen coming.
      job?.onExit(() => this.#release()),
    ]
    signal.addEventListener('abort', quit, { once: true })
    if (signal.aborted) quit()
    try {
      this.#take()
      this.#show()
      this.#link.open()
      void this.#askForGraphics()
      await this.#ended
    } finally {
      this.#release()
      this.#ink?.unmount()
      this.#link.close()
      signal.removeEventListener('abort', quit)
      for (const stop of stopListening) stop?.()
    }
  }

  #show(): void {
    // Bold, inverse and dim are no colours: they stay where colours are not wanted.
    chalk.level = Math.max(1, this.#graphics.depth) as 1 | 2 | 3
    const app = (
      <App
        desk={this.#desk}
        link={this.#link}
        keyboard={this.#keyboard}
        screen={this.#screen}
        graphics={this.#graphics}
        away={this.#away}
        quit={this.#quit}
      />
    )
    if (this.#ink) return this.#ink.rerender(app)
    this.#ink = render(app, {
      stdout: this.#screen as never,
      stdin: this.#input as never,
      exitOnCtrlC: false,
      patchConsole: false,
      // Whole frames, as they are: the screen finds out what has changed.
      debug: true,
      isScreenReaderEnabled: false,
    })
    this.#ink.waitUntilExit().catch((error: unknown) => this.#end(error))
  }

  readonly #quit = (): void => this.#end()

  /** What the terminal can show is known a moment after it shows something. */
  async #askForGraphics(): Promise<void> {
    if (!mayAsk(this.#desk.terminal)) return
    const answers = this.#input.answers(answerPattern, isWhole, answerMs)
    this.#screen.send(question)
    const found = readAnswers(await answers, this.#graphics.depth)
    if (found.kind === this.#graphics.kind || !this.#screen.isOpen) return
    this.#graphics = found
    this.#show()
  }

  readonly #away = async (work: () => Promise<void>): Promise<void> => {
    this.#isAway = true
    this.#release()
    try {
      await work()
    } finally {
      this.#isAway = false
      this.#take()
    }
  }

  #take(): void {
    this.#screen.open()
    this.#input.open()
  }

  #release(): void {
    this.#screen.close()
    this.#input.closeTerminal()
  }

  #redraw(): void {
    if (this.#isAway) return
    this.#release()
    this.#take()
  }

  /** Sets the program aside; `fg` brings it back through `onContinue`. */
  #stop(): void {
    if (!this.#desk.job || this.#isAway) return
    this.#release()
    this.#desk.job.stop()
  }
}
