/** Fields whose label is the first cell of their row in a table. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/rows': `<!doctype html><table>
    <tr><th>System<td><select id=system><option>MySQL<option>SQLite</select></tr>
    <tr><th>Server<td><input id=server placeholder=hostname></tr>
    <tr><td>User name:</td><td><input id=user><input type=hidden value=x></td></tr>
    <tr><th>Note<td><textarea id=note></textarea></tr>
    <tr><th>Active<td><input id=active type=checkbox></tr>
    <tr><td>Price</td><td><select id=op><option>=<option>&lt;</select></td><td><input id=price></td></tr></table>
    <table><tr><th>City</th><th>Zip</th></tr><tr><td><input id=city></td><td><input id=zip></td></tr></table>`,
}

inUsualHomes(pages, (given) => {
  const values = () =>
    given.evaluate(
      `[...document.querySelectorAll('[id]')].map((at) => at.type === 'checkbox' ? at.checked : at.value).join('|')`,
    )

  test('fill_form and label= find the only field of a row by its first cell', async () => {
    await given.open('/rows')
    const fields = { System: 'SQLite', Server: 'db', 'User name': 'ann', Note: 'two\nlines', Active: true }
    await given.do('fill_form', { fields })
    await given.do('fill', { selector: 'label="Server"', text: 'db2' })
    expect(await values()).toBe('SQLite|db2|ann|two\nlines|true|=|||')
  })

  test.each(['Price', 'City'])('a cell that could be the label of several fields names none: %s', async (name) => {
    await given.open('/rows')
    const failure = await given.fails('fill_form', { fields: { [name]: 'x' }, timeout_ms: 700 })
    expect(failure).toMatchObject({ code: 'element_not_found' })
  })
})
