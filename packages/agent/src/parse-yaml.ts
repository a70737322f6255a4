// A module of its own, so that the library is loaded when the first mission is read, bundled or not.
import { parse } from 'yaml';

export function parseYaml(text: string): unknown {
  return parse(text);
}
