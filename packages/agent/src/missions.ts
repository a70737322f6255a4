import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Limits, StrategyName } from '@mcpbridge/shared/conversation.js';
import { parseDuration } from '@mcpbridge/shared/duration.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import type { BrainOptions } from './brains/factory.js';
import { inputFaults, missionSchema } from './mission-schema.js';

/** What an agent is to do and what it may use, written down once in a file. */
export interface Mission {
  name: string;
  description?: string;
  instructions: string;
  brain?: string;
  fallbacks?: string[];
  brainOptions: BrainOptions;
  strategy?: StrategyName | 'auto';
  allowedPrefixes?: string[];
  /** Patterns of tools for each call of which a person must say yes. */
  approve?: string[];
  limits: Partial<Limits>;
  /** A JSON Schema of each input, by its name. */
  inputs: Record<string, JsonObject>;
  /** A JSON Schema of the answer. */
  output?: JsonObject;
  canDelegate: boolean;
}

const ENDINGS = ['.md', '.yaml', '.yml'];
const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The files of a folder, read anew each time: there are few, and they change while the program runs. */
export class Missions {
  constructor(private readonly folder: string) {}

  /** All of them; one that cannot be used tells why. */
  async list(): Promise<({ name: string } & ({ mission: Mission } | { fault: string }))[]> {
    const files = await readdir(this.folder).catch(() => []);
    const names = files.filter((file) => ENDINGS.includes(extname(file))).sort();
    return Promise.all(
      names.map(async (file) => {
        const name = basename(file, extname(file));
        return this.read(file).then(
          (mission) => ({ name, mission }),
          (thrown) => ({ name, fault: messageOf(thrown) }),
        );
      }),
    );
  }

  /** @throws NOT_FOUND, CONFIG_INVALID with every fault */
  async get(name: string): Promise<Mission> {
    const files = NAME.test(name) ? await readdir(this.folder).catch(() => []) : [];
    const file = files.find((one) => ENDINGS.includes(extname(one)) && basename(one, extname(one)) === name);
    if (!file) throw new AppError('NOT_FOUND', `There is no mission "${name}" in ${this.folder}.`);
    return this.read(file);
  }

  private async read(file: string): Promise<Mission> {
    const text = await readFile(join(this.folder, file), 'utf8');
    return readMission(text, file);
  }
}

const check = compileSchema(missionSchema);

/** Markdown with front matter, whose body is the instructions, or YAML alone. */
async function readMission(text: string, file: string): Promise<Mission> {
  const { parseYaml } = await import('./parse-yaml.js');
  const matter = extname(file) === '.md' ? FRONT_MATTER.exec(text) : undefined;
  const source = extname(file) === '.md' ? (matter?.[1] ?? '') : text;
  let given: unknown;
  try {
    given = parseYaml(source) ?? {};
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `The mission "${file}" is no YAML: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const body = extname(file) === '.md' ? (matter?.[2] ?? text).trim() : '';
  const faults = check(given);
  if (isObject(given)) faults.push(...inputFaults(given));
  if (faults.length > 0 || !isObject(given)) {
    const details = { faults };
    throw new AppError('CONFIG_INVALID', `The mission "${file}" cannot be used: ${faults.join('; ')}.`, {
      details,
    });
  }
  return missionOf(given, body, basename(file, extname(file)));
}

function missionOf(given: JsonObject, body: string, name: string): Mission {
  const { instructions = '', brain, limits = {}, inputs = {}, subAgents = false, window, ...rest } = given;
  const { maxTokens, thinkingTokens, images, price, ...known } = rest;
  const options = { window, maxTokens, thinkingTokens, images, price };
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    ...known,
    name,
    instructions: [String(instructions).trim(), body].filter(Boolean).join('\n\n'),
    ...(brain === undefined ? {} : { brain: String(brain) }),
    brainOptions: set,
    limits: readLimits(isObject(limits) ? limits : {}),
    inputs: isObject(inputs) ? (inputs as Record<string, JsonObject>) : {},
    canDelegate: subAgents === true,
  };
}

/** With the time as milliseconds; the schema has seen that it is one. */
export function readLimits({ time, ...rest }: JsonObject): Partial<Limits> {
  return { ...rest, ...(time === undefined ? {} : { time: parseDuration(String(time)) ?? 0 }) };
}

/** The instructions with the inputs in the place of `{{name}}`. @throws INVALID_ARGUMENTS */
export function filledIn(mission: Mission, given: JsonObject = {}): string {
  const values: JsonObject = { ...given };
  const faults: string[] = [];
  for (const [name, schema] of Object.entries(mission.inputs)) {
    values[name] ??= schema.default;
    if (values[name] === undefined) faults.push(`"${name}" is missing`);
    else faults.push(...compileSchema(schema)(values[name]).map((fault) => `${name}${fault}`));
  }
  for (const name of Object.keys(given))
    if (!(name in mission.inputs)) faults.push(`"${name}" is no input of it`);
  if (faults.length > 0) {
    throw new AppError(
      'INVALID_ARGUMENTS',
      `The inputs do not fit mission "${mission.name}": ${faults.join('; ')}.`,
      {
        details: { faults },
      },
    );
  }
  return mission.instructions.replaceAll(/\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
