/** Commands on disabled elements fail soon with the reason, and wait for elements that become enabled. */
import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><title>Disabled</title><button id=b disabled>Go <span id=inner>inside</span></button>
    <fieldset disabled><button id=nested>Nested</button></fieldset><div role=button aria-disabled=true id=role>Role</div>
    <div aria-disabled=true role=toolbar><p id=text onclick="document.title = 'text'">Text</p></div>
    <label id=label for=c>Label</label><input type=checkbox id=c disabled><input id=i disabled><textarea id=t disabled></textarea>
    <select id=s><option value=1>one<option value=2 disabled>two<optgroup label=more disabled><option value=3>three</optgroup></select>
    <button class=x disabled>No</button><button class=x hidden>Hidden</button>
    <script>
      // Enables all of them shortly before the timeout for elements ends.
      setTimeout(() => {
        for (const one of document.querySelectorAll('[disabled]')) one.disabled = false
        for (const one of document.querySelectorAll('[aria-disabled]')) one.ariaDisabled = null
      }, ${limits.command.elementMs - 500})
    </script>`,
  '/late': `<!doctype html><button id=b disabled onclick="document.title = 'clicked'">Go</button><select id=s><option>one<option disabled>two</select><script>
    setTimeout(() => { b.disabled = false; s.options[1].disabled = false }, 200)</script>`,
  '/asks': `<!doctype html><button id=b disabled onclick="document.title = 'clicked'">Go</button><input id=open type=button onclick="setTimeout(() => b.disabled = false, ${2 * limits.command.disabledMs})">`,
}

inUsualHomes(pages, (given) => {
  test.each([
    ['click', { selector: '#b' }, '#b is disabled (button#b "Go inside")'],
    ['click', { selector: '#b >> nth=0' }, '#b >> nth=0 is disabled (button#b "Go inside")'],
    ['click', { selector: 'text=Role' }, 'text=Role is disabled (div#role "Role")'],
    ['click', { selector: '#inner' }, '#inner is disabled (span#inner "inside")'],
    ['click', { selector: '#label' }, '#label is disabled (label#label "Label")'],
    ['click', { selector: '.x' }, '.x (the first visible of 2 matches) is disabled (button.x "No")'],
    ['click_advanced', { selector: '#nested', button: 'right' }, '#nested is disabled (button#nested "Nested")'],
    ['double_click', { selector: '#b' }, '#b is disabled (button#b "Go inside")'],
    ['check', { selector: '#c' }, '#c is disabled (input#c)'],
    ['fill', { selector: '#i', text: 'x' }, '#i is disabled (input#i)'],
    ['type_text', { selector: '#t', text: 'x' }, '#t is disabled (textarea#t)'],
    ['select_option', { selector: '#s', values: ['two'] }, '#s has this option, but it is disabled'],
    ['select_option', { selector: '#s', values: ['3'] }, '#s has this option, but it is disabled'],
  ])('%s %j', async (command, data, error) => {
    await given.open('/')
    const { results } = await given.run([[command, data]])
    expect(results[0]).toMatchObject({ success: false, code: 'not_editable', error, details: { delivered: false } })
  })

  test('elements beside disabled ones are used, and disabled ones hovered', async () => {
    await given.open('/')
    await given.do('click', { selector: '#text' })
    expect(await given.value('get_title')).toBe('text')
    await given.do('hover', { selector: '#b' })
    await given.do('select_option', { selector: '#s', values: ['one'] })
    expect(await given.evaluate('s.value')).toBe('1')
  })

  test('a command waits for an element that becomes enabled, and longer with timeout_ms', async () => {
    await given.open('/late')
    await given.do('select_option', { selector: '#s', values: ['two'] })
    await given.do('click', { selector: '#b' })
    expect(await given.value('get_title')).toBe('clicked')
    await given.open('/asks')
    await given.do('click', { selector: '#open' })
    await given.do('click', { selector: '#b', timeout_ms: limits.command.elementMs })
    expect(await given.value('get_title')).toBe('clicked')
  })
})
