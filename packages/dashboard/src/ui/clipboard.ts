/** Over plain HTTP from another machine a page has no clipboard of its own: then the old way, by a selection. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden-text';
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
