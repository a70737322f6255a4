/** What was piped in; nothing where a person sits at the other end. */
export async function pipedInput(stdin: NodeJS.ReadStream): Promise<string> {
  if (stdin.isTTY) return '';
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) text += chunk;
  return text.trim();
}
