/** Sets sliders that are no input elements with the keys of the ARIA Authoring Practices. */
import type { ElementHandle } from 'playwright'
import { BaxError } from '../../core/errors/errors.ts'
import type { CallLimit, CommandContext } from '../../core/operation/command.ts'

/** Time for a slider to show the effect of a key, in milliseconds. */
const shownMs = 1000
/** Maximum number of key presses: sliders with more steps are dragged. */
const maxPresses = 500

/** Presses arrow keys until a slider has a value. @throws BaxError `invalid_data` for a value that it does not take. */
export async function pressSlider(
  slider: ElementHandle<Element>,
  selector: string,
  value: number,
  { limit, send, poll }: { readonly limit: CallLimit } & Pick<CommandContext, 'send' | 'poll'>,
): Promise<void> {
  const details = { selector }
  const now = () => slider.evaluate((node) => Number(node.getAttribute('aria-valuenow') ?? Number.NaN))
  const range = await slider.evaluate((node) => [
    node.getAttribute('aria-valuemin'),
    node.getAttribute('aria-valuemax'),
  ])
  const [min, max] = [Number(range[0] ?? 0), Number(range[1] ?? 100)]
  if (!(value >= min && value <= max))
    throw new BaxError('invalid_data', `${selector} takes values from ${min} to ${max}, not ${value}`, { details })
  let current = await now()
  if (Number.isNaN(current))
    throw new BaxError('not_editable', `${selector} does not say its value (aria-valuenow)`, { details })
  // Steps of decimals add up to numbers such as 30.000000000000178.
  const isAt = (at: number) => Math.abs(at - value) <= (max - min) * 1e-9
  for (let presses = 0; !isAt(current); presses += 1) {
    const key = current < value ? 'ArrowRight' : 'ArrowLeft'
    await send(() => slider.press(key, limit))
    const from = current
    await poll(async () => ({ met: (await now()) !== from }), shownMs)
    const next = await now()
    const isStuck = next === current
    const isPast = !isAt(next) && (current < value ? next > value : next < value)
    if (isStuck || isPast || presses === maxPresses) {
      const why = isPast ? `has no step at ${value}: it is at ${next}` : `stays at ${next}`
      throw new BaxError('action_failed', `${selector} ${why}`, {
        hint: isStuck || !isPast ? 'use drag with the position of the value' : `use ${current} or ${next}`,
        details: { ...details, value: next, delivered: true },
      })
    }
    current = next
  }
}
