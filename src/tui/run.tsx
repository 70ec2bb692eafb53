/** Runs the UI in the terminal, and restores the terminal however the UI ends. */
import chalk from 'chalk'
import { type Instance, render } from 'ink'
import { App } from './app.tsx'
import type { TuiHost } from './host.ts'
import { Keyboard } from './keyboard.ts'
import { Link } from './link.ts'
import { Mouse } from './mouse.ts'
import { canQuery, type Graphics, graphicsQuery, parseReplies, textGraphics } from './image/graphics.ts'
import { Input } from './terminal/input.ts'
import { Screen } from './terminal/screen.ts'
import { colourDepth } from './theme.ts'

/** Runs until the user quits or the host's signal is aborted. Restores the terminal before it throws. */
export const runTui = async (host: TuiHost): Promise<void> => new TerminalUi(host).run()

class TerminalUi {
  readonly #host: TuiHost
  readonly #screen: Screen
  readonly #input: Input
  readonly #link: Link
  readonly #keyboard = new Keyboard()
  readonly #mouse = new Mouse()
  #graphics: Graphics
  #ink: Instance | undefined
  /** Whether another program uses the terminal. */
  #isSuspended = false
  readonly #ended: Promise<void>
  #end: (error?: unknown) => void = () => {}

  constructor(host: TuiHost) {
    this.#host = host
    this.#screen = new Screen(host.terminal.stdout)
    this.#input = new Input(host.terminal.stdin, (event) => this.#mouse.handle(event))
    this.#link = new Link(host)
    this.#graphics = textGraphics(colourDepth(host.terminal))
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error as Error))
    })
  }

  async run(): Promise<void> {
    const { job, signal } = this.#host
    const quit = this.#quit
    this.#keyboard.globalKeys.set('ctrl+c', quit)
    this.#keyboard.globalKeys.set('ctrl+z', () => this.#stop())
    this.#keyboard.globalKeys.set('ctrl+l', () => this.#redraw())
    const stopListening = [
      job?.onCrash((error) => this.#end(error)),
      job?.onStopRequest(() => this.#stop()),
      job?.onContinue(() => this.#redraw()),
      // The last resort, for exits that nothing else has noticed.
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
    // Bold, inverse and dim are not colours, so they stay with NO_COLOR.
    chalk.level = Math.max(1, this.#graphics.depth) as 1 | 2 | 3
    const app = (
      <App
        host={this.#host}
        link={this.#link}
        keyboard={this.#keyboard}
        mouse={this.#mouse}
        screen={this.#screen}
        graphics={this.#graphics}
        suspend={this.#suspend}
        quit={this.#quit}
      />
    )
    if (this.#ink) return this.#ink.rerender(app)
    this.#ink = render(app, {
      stdout: this.#screen as never,
      stdin: this.#input as never,
      exitOnCtrlC: false,
      patchConsole: false,
      // Makes ink write whole frames; the screen finds the lines that changed.
      debug: true,
      isScreenReaderEnabled: false,
    })
    this.#ink.waitUntilExit().catch((error: unknown) => this.#end(error))
  }

  readonly #quit = (): void => this.#end()

  /** Queries the terminal for graphics support, and draws again when it has some. */
  async #askForGraphics(): Promise<void> {
    if (!canQuery(this.#host.terminal)) return
    const answers = this.#input.readReplies(graphicsQuery)
    this.#screen.send(graphicsQuery.sequence)
    const found = parseReplies(await answers, this.#graphics.depth)
    if (found.kind === this.#graphics.kind || !this.#screen.isOpen) return
    this.#graphics = found
    this.#show()
  }

  readonly #suspend = async (work: () => Promise<void>): Promise<void> => {
    this.#isSuspended = true
    this.#release()
    try {
      await work()
    } finally {
      this.#isSuspended = false
      this.#take()
    }
  }

  #take(): void {
    this.#screen.open()
    this.#input.open()
  }

  #release(): void {
    this.#screen.close()
    this.#input.release()
  }

  #redraw(): void {
    if (this.#isSuspended) return
    this.#release()
    this.#take()
  }

  /** Stops the process as ^Z does; `fg` resumes it through `onContinue`. */
  #stop(): void {
    if (!this.#host.job || this.#isSuspended) return
    this.#release()
    this.#host.job.stop()
  }
}
