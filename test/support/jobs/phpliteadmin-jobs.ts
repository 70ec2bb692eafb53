/** Jobs of a person or an agent on phpLiteAdmin. */
import { type Subject, teas } from '../application-jobs.ts'
import { type PhpLiteAdmin, startPhpLiteAdmin } from '../phpliteadmin.ts'
import type { Driver } from '../session-drivers.ts'
import { sqlite } from '../stored.ts'

async function startFilledAdmin(): Promise<PhpLiteAdmin> {
  const admin = await startPhpLiteAdmin()
  await sqlite(admin.file('team.sqlite'), teas)
  return admin
}

async function loginToLiteAdmin(driver: Driver, admin: PhpLiteAdmin): Promise<void> {
  await driver.open(admin.url)
  await driver.fill('[type=password]', admin.password)
  await driver.click('button "Log In"')
  await driver.see('Change Database')
}

export const phpLiteAdmin = {
  name: 'phpLiteAdmin',
  start: startFilledAdmin,
  jobs: [
    {
      title: 'creates a database and a table',
      by: 'mcp',
      async use(driver, admin) {
        await loginToLiteAdmin(driver, admin)
        await driver.fill('[name=new_dbname]', 'shop')
        await driver.click('input[value=Create]')
        await driver.see('Create new table')
        await driver.fill('[name=tablename]', 'cups')
        await driver.fill('[name=tablefields]', '2')
        await driver.click('[name=tablefields] ~ input[type=submit]')
        await driver.fill('[name="0_field"]', 'id')
        await driver.choose('[name="0_type"]', 'INTEGER')
        await driver.check('[name="0_primarykey"]')
        await driver.fill('[name="1_field"]', 'name')
        await driver.choose('[name="1_type"]', 'TEXT')
        await driver.check('[name="1_notnull"]')
        await driver.click('form:has([name=rows]) input[value=Create]')
        await driver.see("Table 'cups' has been created")
      },
      stored: (admin) => sqlite(admin.file('shop'), `select name, type, "notnull", pk from pragma_table_info('cups')`),
      expected: [
        ['id', 'INTEGER', 1, 1],
        ['name', 'TEXT', 1, 0],
      ],
    },
    {
      title: 'inserts a row, searches for it and changes it',
      by: 'cli',
      usual: true,
      async use(driver, admin) {
        await loginToLiteAdmin(driver, admin)
        await driver.click('link "teas"')
        await driver.click('link "Insert"')
        await driver.fill('#row_0_field_0_value', '7')
        await driver.fill('#row_0_field_1_value', "Lapsang 'smoked'")
        await driver.fill('#row_0_field_2_value', '12')
        await driver.click('button "Insert"')
        await driver.see('1 row(s) inserted')
        await driver.click('link "teas"')
        await driver.click('link "Search"')
        await driver.choose('[name=field_2_operator]', '>=')
        await driver.fill('#field_2_value', '12')
        await driver.choose('[name=field_1_operator]', 'LIKE')
        await driver.fill('#field_1_value', 'Lap%')
        await driver.click('button "Search"')
        await driver.see('smoked')
        await driver.click('a.edit')
        await driver.fill('#row_0_field_2_value', '13')
        await driver.click('button "Save Changes"')
        await driver.see('1 row(s) affected')
      },
      stored: (admin) => sqlite(admin.file('team.sqlite'), 'select id, name, price from teas where id < 100'),
      expected: [[7, "Lapsang 'smoked'", 13]],
    },
    {
      title: 'renames a table, and inserts a row',
      by: 'live view',
      async use(driver, admin) {
        await loginToLiteAdmin(driver, admin)
        await driver.click('link "teas"')
        await driver.click('link "Rename"')
        await driver.fill('[name=newname]', 'drinks')
        await driver.click('[name=rename]')
        await driver.see('has been renamed')
        await driver.click('link "drinks"')
        await driver.click('link "Insert"')
        await driver.fill('#row_0_field_0_value', '7')
        await driver.fill('#row_0_field_1_value', 'Coffee')
        await driver.check('#row_0_field_2_null')
        await driver.click('button "Insert"')
        await driver.see('1 row(s) inserted')
      },
      stored: (admin) => sqlite(admin.file('team.sqlite'), 'select id, name, price from drinks where id < 100'),
      expected: [[7, 'Coffee', null]],
    },
    {
      title: 'imports rows of a file, and deletes others',
      by: 'mixed',
      async use(driver, admin) {
        await loginToLiteAdmin(driver, admin)
        await driver.click('link "teas"')
        await driver.click('link "Import"')
        await driver.check('input[name=import_type][value=csv]')
        await driver.fill('[name=import_csv_fieldsterminated]', ',')
        await driver.upload('input[type=file]', 'rows.csv')
        await driver.click('[name=import]')
        await driver.see('successful')
        await driver.open(`${admin.url}?table=teas&action=row_view`)
        for (const row of [3, 5]) await driver.check(`#check_${row}`)
        await driver.choose('select[name=type]', 'Delete')
        await driver.click('[name=massGo]')
        await driver.click('button "Confirm"')
        await driver.see('2 row(s) deleted')
      },
      stored: (admin) =>
        sqlite(admin.file('team.sqlite'), 'select count(*), sum(id in (7, 8)), sum(id in (101, 103)) from teas'),
      expected: [[45, 2, 0]],
    },
    {
      title: 'turns pages, and runs SQL',
      by: 'cli',
      async use(driver, admin) {
        await loginToLiteAdmin(driver, admin)
        await driver.click('link "teas"')
        await driver.click('button "→"')
        await driver.see('Tea 45')
        await driver.fill('[name=numRows]', '5')
        await driver.click('[name=show]')
        await driver.click('link "SQL"')
        await driver.fill('.CodeMirror', 'delete from teas where price > 30;\nupdate teas set price = 1')
        await driver.click('[name=query]')
        await driver.see('Recent Queries')
      },
      stored: (admin) => sqlite(admin.file('team.sqlite'), 'select count(*), sum(price) from teas'),
      expected: [[31, 31]],
    },
  ],
} satisfies Subject<PhpLiteAdmin>
