/** phpMyAdmin, driven by one-liners, by a script and by a recording; MariaDB itself says what they have changed. */
import type { Locator } from 'playwright'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { missingForPhp } from '../support/debian-php.ts'
import { openDrives } from '../support/driven.ts'
import { titled } from '../support/needs.ts'
import { Person } from '../support/page-person.ts'
import { type PhpMyAdmin, startPhpMyAdmin } from '../support/phpmyadmin.ts'

const reason = missingForPhp()
const drives = openDrives()

/** Two rows in the form for new ones, by the IDs of their fields. */
const rows = {
  '#field_2_3': 'Assam',
  '#field_3_3': '4.5',
  '#field_4_3': '2026-05-01',
  '#field_6_3': 'Sencha "green"',
  '#field_7_3': '7.25',
}
const columns = {
  '#field_0_1': 'id',
  '#field_0_9': true,
  '#field_1_1': 'name',
  '#field_1_2': 'VARCHAR',
  '#field_1_3': '80',
  '#field_2_1': 'price',
  '#field_2_2': 'DECIMAL',
  '#field_2_3': '8,2',
  '#field_3_1': 'picked',
  '#field_3_2': 'DATE',
  '#field_3_7': true,
}
/** Whether it has loaded: it ignores clicks before that, and the server may take longer than clicks wait for. */
const isReady = 'AJAX.active === false'
const ready = ['wait', '--function', isReady]
const statements = `insert into teas (name, price) values ('Oolong', 9), ('Mate', 3); update teas set price = price + 1 where name = 'Assam'`

describe.skipIf(reason)(titled('phpMyAdmin', reason), () => {
  let app: PhpMyAdmin
  beforeAll(async () => {
    app = await startPhpMyAdmin()
  }, 300_000)
  afterAll(() => app.close())
  beforeEach(() => app.database.query('drop database if exists shop'))

  const variables = () => ({ PASSWORD: app.password })

  /** The table was created, and rows were inserted, changed and deleted. */
  async function check(): Promise<void> {
    const described = 'select column_name, column_type, is_nullable, extra from information_schema.columns'
    expect(await app.database.query(`${described} where table_schema = 'shop' order by ordinal_position`)).toEqual([
      ['id', 'int(11)', 'NO', 'auto_increment'],
      ['name', 'varchar(80)', 'NO', ''],
      ['price', 'decimal(8,2)', 'NO', ''],
      ['picked', 'date', 'YES', ''],
    ])
    expect(await app.database.query('select * from shop.teas order by id')).toEqual([
      ['1', 'Assam', '5.50', '2026-05-01'],
      ['2', 'Sencha "green"', '8.40', 'NULL'],
      ['3', 'Oolong, dark', '9.00', 'NULL'],
    ])
  }

  test('one-liners create a table, and insert, change, find, read and delete rows', async () => {
    const printed = await drives.lines(
      ['open', app.url],
      ['fill-form', JSON.stringify({ Username: app.user, Password: app.password })],
      ['click', 'role=button[name="Log in"]'],
      ['click', 'role=link[name="Databases Databases"]'],
      ['fill', 'role=textbox[name="Database name"]', 'shop'],
      ['click', 'role=button[name="Create"]'],
      ['fill', 'role=textbox[name="Table name"]', 'teas'],
      ready,
      ['click', 'role=button[name="Create"]'],
      ['fill-form', JSON.stringify(columns)],
      ['click', 'role=button[name="Save"]'],
      ['wait', '--text', 'Row statistics'],
      ready,
      ['click', 'role=link[name="Insert Insert"]'],
      ['fill-form', JSON.stringify(rows)],
      ['click', '#buttonYes'],
      ['wait', '--text', '2 rows inserted'],
      ['fill', '.CodeMirror', statements],
      ['click', 'role=button[name="Go"]'],
      ['wait', '--text', '1 row affected'],
      ready,
      ['click', 'role=link[name="Browse Browse"]'],
      ['double-click', 'role=cell[name="7.25"]'],
      ['fill', '.edit_box:focus', '8.40'],
      ['press', 'Enter'],
      ['click', 'role=row[name*="Oolong"] >> role=link[name="Edit Edit"]'],
      ['fill', '#field_2_3', 'Oolong, dark'],
      ['click', '#buttonYes'],
      ['click', 'role=row[name*="Mate"] >> role=link[name="Delete Delete"]'],
      ['click', 'role=button[name="OK"]'],
      ['wait', '--text', '1 row deleted'],
      ['fill', '.filter_rows', 'n'],
      ['wait', 'role=row[name*="Assam"]', '--state', 'hidden'],
      ['extract-structured-content', 'all teas'],
    )
    await check()
    expect(JSON.parse(printed)).toMatchObject({
      tables: [
        {
          rows: [
            { id: '2', name: 'Sencha "green"', price: '8.40', picked: 'NULL' },
            { id: '3', name: 'Oolong, dark', price: '9.00', picked: 'NULL' },
          ],
        },
      ],
    })
  })

  test('a script creates a table, and inserts, changes, finds and deletes rows', async () => {
    await drives.runScript(
      `steps:
  - navigate_to: ${app.url}
  - fill_form: { fields: { Username: ${app.user}, Password: "\${env.PASSWORD}" } }
  - click: role=button[name="Log in"]
  - click: role=link[name="Databases Databases"]
  - fill: { selector: 'role=textbox[name="Database name"]', text: shop }
  - click: role=button[name="Create"]
  - fill: { selector: 'role=textbox[name="Table name"]', text: teas }
  - wait_for: { function: ${isReady} }
  - click: role=button[name="Create"]
  - fill_form: { fields: ${JSON.stringify(columns)} }
  - click: role=button[name="Save"]
  - wait_for: { text: Row statistics }
  - wait_for: { function: ${isReady} }
  - click: "#topmenu >> role=link[name='Insert Insert']"
  - fill_form: { fields: ${JSON.stringify(rows)} }
  - click: "#buttonYes"
  - wait_for: { text: 2 rows inserted }
  - fill: { selector: "#page_content .CodeMirror", text: ${JSON.stringify(statements)} }
  - click: role=button[name="Go"]
  - wait_for: { text: 1 row affected }
  - wait_for: { function: ${isReady} }
  - click: role=link[name="Browse Browse"]
  - double_click: role=cell[name="7.25"]
  - fill: { selector: ".edit_box:focus", text: "8.40" }
  - press_key: { key: Enter }
  - click: role=row[name*="Oolong"] >> role=link[name="Edit Edit"]
  - fill: { selector: "#field_2_3", text: "Oolong, dark" }
  - click: "#buttonYes"
  - fill: { selector: ".filter_rows >> nth=0", text: mate }
  - wait_for: { selector: 'role=row[name*="Assam"]', state: hidden }
  - click: role=row[name*="Mate"] >> role=link[name="Delete Delete"]
  - click: role=button[name="OK"]
  - wait_for: { text: 1 row deleted }
`,
      variables(),
    )
    await check()
  })

  test('a recording repeats what a person does, three times', { timeout: 600_000 }, async () => {
    const recording = await drives.record(app.url)
    await useAsPerson(new Person(recording.page), app)
    await check()
    const { code, stderr } = await recording.end()
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    const script = await recording.script()
    expect(script).not.toContain(app.password)
    for (const _ of [1, 2, 3]) {
      await app.database.query('drop database shop')
      await drives.runScript(script, variables())
      await check()
    }
  })
})

/** Does the same as the other forms, as a person does, who waits until it has loaded: it ignores clicks before that. */
async function useAsPerson(person: Person, app: PhpMyAdmin): Promise<void> {
  const { page } = person
  const tap = async (target: Locator) => {
    await target.waitFor()
    await page.waitForFunction(isReady)
    await person.tap(target)
  }
  const link = (name: string) => page.locator('#topmenu').getByRole('link', { name })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const row = (name: string) => page.getByRole('row', { name })
  const write = async (selector: string, text: string, isEmpty = true) => {
    await tap(page.locator(selector))
    if (!isEmpty) await page.keyboard.press('ControlOrMeta+A')
    await person.type(text)
  }
  await tap(page.getByLabel('Username'))
  await person.type(app.user)
  await page.keyboard.press('Tab')
  await person.type(app.password)
  await page.keyboard.press('Enter')
  await tap(link('Databases'))
  await write('#text_create_db', 'shop')
  await tap(button('Create'))
  await write('#createTableMinimalForm [name=table]', 'teas')
  await tap(button('Create'))
  for (const [selector, value] of Object.entries(columns)) {
    if (value === true) await tap(page.locator(selector))
    else if (selector.endsWith('_2')) await page.locator(selector).selectOption(value as string)
    else await write(selector, value as string)
  }
  await tap(button('Save'))
  await page.getByText('Row statistics').waitFor()
  await tap(link('Insert'))
  for (const [selector, text] of Object.entries(rows)) {
    await write(selector, text)
    // The calendar of a date covers other fields.
    if (selector === '#field_4_3') await page.keyboard.press('Escape')
  }
  await tap(page.locator('#buttonYes'))
  await page.getByText('2 rows inserted').waitFor()
  await write('#page_content .CodeMirror', statements, false)
  await tap(button('Go'))
  await page.getByText('1 row affected').waitFor()
  await tap(link('Browse'))
  await page.getByRole('cell', { name: '7.25' }).dblclick()
  await page.keyboard.press('ControlOrMeta+A')
  await person.type('8.40')
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name: '8.40' }).waitFor()
  await tap(row('Oolong').getByRole('link', { name: 'Edit' }))
  await write('#field_2_3', 'Oolong, dark', false)
  await tap(page.locator('#buttonYes'))
  await write('.filter_rows >> nth=0', 'mate')
  await row('Assam').waitFor({ state: 'hidden' })
  await tap(row('Mate').getByRole('link', { name: 'Delete' }))
  await tap(button('OK'))
  await page.getByText('1 row deleted').waitFor()
}
