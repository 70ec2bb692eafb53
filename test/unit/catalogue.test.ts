import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { catalogue, commandRequest, commands } from '../../src/commands/index.ts'
import { examplesOf } from '../../src/core/operation/examples.ts'
import { paramsOf } from '../../src/core/operation/schema-params.ts'

/** The `command` column of the service interface, section 4.3. */
const names = [
  'toggle_click_overlay',
  'toggle_bounding_boxes',
  'navigate_to',
  'refresh',
  'wait_for_navigation',
  'wait_for_element',
  'click',
  'click_at',
  'clear',
  'press_key',
  'get_content',
  'get_text',
  'get_attribute',
  'get_title',
  'extract_structured_content',
  'evaluate',
  'get_bounding_boxes',
  'inspect_element',
  'scroll_to',
  'move_mouse_to',
  'drag',
  'scroll_into_view',
  'click_advanced',
  'type_text',
  'hover',
  'focus',
  'check',
  'select_option',
  'drag_to',
  'evaluate_on_element',
  'get_element_bounding_box',
  'element_screenshot',
  'get_basic_info',
  'screenshot',
  'set_cookie',
  'set_cookies',
  'get_cookies',
  'delete_cookie',
  'get_local_storage',
  'set_local_storage',
  'clear_local_storage',
  'get_session_storage',
  'set_session_storage',
  'clear_session_storage',
  'capture_state',
]

test('the catalogue has all 45 commands of the interface, and each name once', () => {
  expect(names).toHaveLength(45)
  expect(names.filter((name) => !catalogue.has(name))).toEqual([])
  const inFamilies = Object.values(commands).flatMap((family) => Object.keys(family))
  expect(new Set(inFamilies).size).toBe(inFamilies.length)
})

describe.each([...catalogue])('%s', (name, command) => {
  test('says what it does, how it is typed, and what each field means', () => {
    expect(command.summary).toMatch(/^[A-Z].{5,90}[^.]$/)
    for (const { name: field, description } of paramsOf(command.data)) {
      expect(description, `${name}.${field}`).toBeTruthy()
    }
    const required = paramsOf(command.data).filter((param) => param.required)
    for (const example of examplesOf(command.example)) {
      const words = example.match(/'[^']*'|\S+/g) ?? []
      expect(words.length).toBeGreaterThanOrEqual(required.length)
    }
  })

  test('has shapes that documents can show', () => {
    expect(z.toJSONSchema(command.data, { io: 'input' })).toMatchObject({ type: 'object' })
    if (command.result) expect(z.toJSONSchema(command.result)).toMatchObject({ type: 'object' })
  })
})

const faults = (request: unknown) => {
  const parsed = commandRequest.safeParse(request)
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('a request for a command', () => {
  test('names the command that was meant when there is none of that name', () => {
    expect(faults({ command: 'clik', data: {} })).toEqual(['command: unknown command "clik" (did you mean "click"?)'])
    expect(faults({})).toEqual(['command: command is required'])
  })

  test('may leave out data where nothing is required', () => {
    for (const command of ['refresh', 'get_title', 'wait_for_navigation', 'get_content', 'capture_state']) {
      expect(faults({ command })).toEqual([])
    }
    expect(faults({ command: 'click' })).toHaveLength(1)
  })

  test.each([
    ['click', {}, 'data.selector'],
    ['click', { selector: 5 }, 'data.selector'],
    ['click', { selector: '' }, 'data.selector'],
    ['click_at', { x: '1', y: 2 }, 'data.x'],
    ['click_at', { x: 1 }, 'data.y'],
    ['click_advanced', { selector: 'a', button: 'leftish' }, 'data.button'],
    ['click_advanced', { selector: 'a', click_count: 0 }, 'data.click_count'],
    ['click_advanced', { selector: 'a', modifiers: 16 }, 'data.modifiers'],
    ['drag', { from: { x: 1 }, to: { x: 1, y: 1 } }, 'data.from.y'],
    ['drag_to', { selector: 'a' }, 'data.target_selector'],
    ['element_screenshot', { selector: 'a', format: 'gif' }, 'data.format'],
    ['element_screenshot', { selector: 'a', quality: 101 }, 'data.quality'],
    ['get_content', { kind: 'pdf' }, 'data.kind'],
    ['wait_for_element', { selector: 'a', timeout_ms: -1 }, 'data.timeout_ms'],
    ['wait_for_element', { selector: 'a', timeout_ms: 300_001 }, 'data.timeout_ms'],
    ['select_option', { selector: 'a', values: 'b' }, 'data.values'],
    ['move_mouse_to', { x: 1, y: 1, steps: 0 }, 'data.steps'],
    ['set_cookie', { name: 'a', value: 'b', same_site: 'sometimes' }, 'data.same_site'],
    ['set_cookies', { cookies: 'nonsense' }, 'data.cookies'],
    ['set_local_storage', { items: [{ key: 'a' }] }, 'data.items.0.value'],
    ['delete_cookie', { name: 'a' }, 'data.domain'],
    ['toggle_click_overlay', {}, 'data.enabled'],
    ['screenshot', { full_page: 'yes' }, 'data.full_page'],
  ])('%s with %j is refused at %s', (command, data, path) => {
    expect(faults({ command, data }).map((fault) => fault.split(':', 1)[0])).toEqual([path])
  })
})
