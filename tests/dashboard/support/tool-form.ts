import type { Locator, Page } from 'playwright-core';
import type { Schema } from './example.js';

/** The form of a tool's arguments, filled in field by field. */
export class ToolForm {
  private readonly beside: Locator;

  private constructor(private readonly detail: Locator) {
    this.beside = detail.getByRole('textbox', { name: /^Arguments as JSON/ });
  }

  static async of(page: Page, view: string, tool: string): Promise<ToolForm> {
    await page.evaluate((path) => {
      history.pushState(null, '', path);
      window.dispatchEvent(new PopStateEvent('popstate'));
    }, `${view}&tool=${tool}`);
    const detail = page.getByRole('complementary', { name: `Tool ${tool}`, exact: true });
    await detail.getByRole('button', { name: 'Run' }).waitFor();
    return new ToolForm(detail);
  }

  /** By its id: `argument`, and the names on the way to it. */
  field(id: string): Locator {
    return this.detail.locator(`[id="${id}"]`);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.beside.inputValue());
  }

  async write(value: object): Promise<void> {
    await this.beside.fill(JSON.stringify(value));
  }

  faults(): Promise<string[]> {
    return this.detail.getByRole('list', { name: 'What is wrong' }).getByRole('listitem').allTextContents();
  }

  async run(): Promise<void> {
    const sure = this.detail.getByLabel(/Run it for real/);
    if (await sure.isVisible()) await sure.check();
    await this.detail.getByRole('button', { name: 'Run' }).click();
  }

  async fill(schema: Schema, value: unknown, id = 'argument', title = ''): Promise<void> {
    const field = this.field(id);
    if ((await field.count()) > 0) return fillField(field, value);
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        await this.detail
          .getByRole('button', { name: `Add to ${title}`, exact: true })
          .last()
          .click();
        await this.fill(schema.items ?? {}, item, `${id}_${index}`, title);
      }
      return;
    }
    for (const [key, inner] of Object.entries(value as object)) {
      const member = schema.properties?.[key] ?? {};
      await this.fill(member, inner, `${id}_${key}`, String(member.title ?? key));
    }
  }
}

async function fillField(field: Locator, value: unknown): Promise<void> {
  const kind = await field.evaluate((element) =>
    element instanceof HTMLInputElement ? element.type : element.tagName,
  );
  if (kind === 'checkbox') await field.setChecked(value === true);
  else if (kind === 'SELECT') await field.selectOption({ label: String(value) });
  else await field.fill(kind === 'TEXTAREA' ? JSON.stringify(value) : String(value));
}
