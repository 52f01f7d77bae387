import { LISTS, readCitations, readExplanations, readRules } from './citations.ts';

/** Prints, list by list, the rules that no test cites, each with the reason if one is known (`npm run rules`). */
const citations = readCitations();
const explanations = readExplanations();
for (const list of LISTS) {
  const rules = readRules(list);
  const uncited = rules.filter(({ id }) => !citations.has(id));
  process.stdout.write(`${list}: ${rules.length - uncited.length} of ${rules.length} cited\n`);
  for (const { id, title } of uncited) {
    process.stdout.write(`  ${id} ${title}: ${explanations.get(id) ?? 'NOT EXPLAINED'}\n`);
  }
}
