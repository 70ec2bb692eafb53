/** Texts that distinguish controls, and values of controls that are no form fields. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pick = '<select><option></option><option>ABS<option>ACOS</select>'
const pages = {
  '/rows': `<!doctype html><table><tr><th>Column<th>Type<th>Function<th>Value</tr>
    <tr><td> name <input type=hidden name=x value=name></td><td><span>varchar(80)</span></td><td>${pick}</td><td><textarea></textarea></td></tr>
    <tr><td>price</td><td><span>decimal</span></td><td>${pick}</td><td><input></td></tr></table>
    <ul><li title=Read><input type=checkbox><span>Read</span></li><li aria-label=Write><input type=checkbox></li></ul>
    <div role=grid><div role=row><div role=gridcell>Tea</div><div role=gridcell><button>Edit</button></div></div></div>`,
  '/sliders': `<!doctype html><style>[role] { width: 100px; height: 10px; display: block }</style>
    <label for=volume>Volume</label><div id=volume><div role=slider tabindex=0 aria-valuenow=30><span hidden>30</span></div></div>
    <span id=price role=group aria-label=Price><i role=slider tabindex=0 aria-label=Lowest aria-valuenow=10></i><i role=slider tabindex=0 aria-label=Highest aria-valuenow=20></i></span>
    <div id=size role=slider tabindex=0 aria-label=Size aria-valuenow=2 aria-valuetext=Large></div>
    <div id=count role=spinbutton tabindex=0 aria-label=Count aria-valuenow=5></div><div id=none role=slider tabindex=0 aria-label=None></div>`,
}

inUsualHomes(pages, (given) => {
  const observed = async (fields: object) =>
    (await given.client().observe({ session_id: given.sessionId(), ...fields } as never)).snapshot!

  test('the short view has the texts of rows and the names of items', async () => {
    await given.open('/rows')
    const shown = await observed({ interactive_only: true })
    for (const line of [
      '- row "name varchar(80)":',
      '- row "price decimal":',
      '- listitem "Read":',
      '- listitem "Write":',
    ])
      expect(shown).toContain(line)
    expect(shown).toContain('- row "Tea":')
    expect(shown).not.toContain('ABS ACOS')
  })

  test('the value of a slider or spin button is shown and read', async () => {
    await given.open('/sliders')
    for (const interactive_only of [false, true]) {
      const shown = await observed({ interactive_only })
      for (const line of [
        /slider \[ref=e\d+\]: "30"/,
        /slider "Lowest" \[ref=e\d+\]: "10"/,
        /slider "Size" \[ref=e\d+\]: Large/,
      ])
        expect(shown).toMatch(line)
      expect(shown).toMatch(/spinbutton "Count" \[ref=e\d+\]: "5"/)
    }
    const value = (selector: string) => given.value('get_value', { selector })
    expect(await value('[role=slider]')).toBe('30')
    expect(await value('#volume')).toBe('30')
    expect([await value('#size'), await value('#count')]).toEqual(['2', '5'])
    for (const selector of ['#price', '#none'])
      expect(await given.fails('get_value', { selector, timeout_ms: 700 })).toMatchObject({ code: 'not_editable' })
  })
})
