import { describePathAttacks } from '../support/describe-path-attacks.js';
import { PLACES } from '../support/workspaces.js';

for (const [name, start] of PLACES) describePathAttacks(name, start);
