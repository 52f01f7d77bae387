import { apply } from '../../machines/apply.ts';
import { decideDelete } from '../../machines/decide/delete.ts';
import {
  describeGroup,
  describeMissing,
  listGroup,
  matchesFilter,
} from '../../machines/decide/describe.ts';
import { decideExpiry } from '../../machines/decide/offsets.ts';
import type { AssignmentProblem, AssignmentResult } from '../../machines/model/assignment.ts';
import { emptySlot } from '../../machines/model/empty.ts';
import { Refusal } from '../../machines/model/refusal.ts';
import type { Topology } from '../../machines/model/topology.ts';
import { keepingAssignor } from './keeping-assignor.ts';
import type { Outcome } from './lone-coordinator.ts';
import { GROUP_ID, LoneCoordinator, type TestAssignor } from './lone-coordinator.ts';
import { plainGroup } from './plain-group.ts';
import { readTasks } from './task-notation.ts';
import { ToldTasks } from './told-tasks.ts';
import { showDescribed, showMembers, showOutcome, showProblem } from './trace-answer.ts';
import { commitOffsets, deleteOffsets, fetchCommitted, silently } from './trace-offsets.ts';
import { readClient, readHeartbeat, readTopology, readWords, type Words } from './trace-request.ts';
import { TRACE_SETTINGS } from './trace-settings.ts';

/**
 * Plays a trace and writes it again with the answers that came: equal texts, and the trace holds.
 *
 * A trace is blocks with blank lines between them; comments start with `#`. A block is commands, and after `----`
 * what they answered. Tasks are `0:[0-2,5];1:[3]`, roles `active|standby|warmup`; `[]` is an empty list, `-` is
 * "not sent". Verbs are the functions of {@link VERBS}.
 *
 * Three laws are held to after every command, whatever the trace is about: one owner, one copy per process
 * ({@link ToldTasks}), and a group that is what its log folds to. Every answer's error is one that a client can act upon.
 */
export function playTrace(text: string): string {
  const player = new Player();
  return `${text
    .trim()
    .split(/\n{2,}/)
    .map((block) => player.play(block))
    .join('\n\n')}\n`;
}

class Player {
  readonly coordinator = new LoneCoordinator((problem) => this.assign(problem));
  /** What every run of the assignor gives. */
  assignor: TestAssignor = keepingAssignor;
  /** What the last run was shown. */
  problem: AssignmentProblem | undefined;
  readonly topologies = new Map<number, Topology>();
  readonly told = new ToldTasks();
  /** The endpoint epoch each member was last told. */
  readonly endpointEpochs = new Map<string, number>();
  topologyEpoch = 0;
  back: () => void = () => {};
  last: Outcome = { answer: undefined, records: [], because: [] };
  because: readonly string[] = [];

  assign(problem: AssignmentProblem): AssignmentResult {
    this.problem = problem;
    return this.assignor(problem);
  }

  play(block: string): string {
    const [input = ''] = block.split('\n----');
    const answers: string[] = [];
    for (const line of input.split('\n')) {
      if (line.startsWith('#') || line === '') continue;
      answers.push(...this.run(line));
      this.holdToLaws(line);
    }
    return answers.length === 0 ? input : [input, '----', ...answers].join('\n');
  }

  run(line: string): readonly string[] {
    const words = readWords(line);
    const verb = VERBS[words.plain[0] ?? ''] ?? VERBS[words.plain[1] ?? ''];
    if (verb === undefined) throw new Error(`Unknown command in a trace: ${line}`);
    return verb(this, words);
  }

  /** Sends a heartbeat of the member that the line starts with. */
  send({ plain, named }: Words, fields: Readonly<Record<string, string>> = {}): readonly string[] {
    const name = plain[0] ?? '';
    const all = new Map([...Object.entries(fields), ...named]);
    const { topologies } = this;
    const endpointEpoch = this.endpointEpochs.get(name) ?? 0;
    const request = readHeartbeat(name, all, { topologies, endpointEpoch });
    const outcome = this.coordinator.heartbeat(request, readClient(name, all));
    if ((outcome.answer?.error ?? 'NONE') === 'NONE') this.told.heard(request);
    return this.show(name, outcome);
  }

  show(name: string, outcome: Outcome): readonly string[] {
    const { answer, because } = outcome;
    this.last = outcome;
    if (because.length > 0) this.because = because;
    if (answer?.error === 'NONE') {
      this.endpointEpochs.set(name, answer.endpointInformationEpoch);
      this.told.told(answer);
    }
    return showOutcome(name, outcome, this.coordinator.slot.group);
  }

  holdToLaws(line: string): void {
    const { slot, log, behaviour } = this.coordinator;
    const broken = [...this.told.violations(slot.group)];
    const { group } = log.reduce(apply, emptySlot(GROUP_ID));
    if (
      JSON.stringify(plainGroup(group), plainly) !== JSON.stringify(plainGroup(slot.group), plainly)
    ) {
      broken.push('The group is not what its log folds to');
    }
    if (this.last.answer?.error === 'UNKNOWN_SERVER_ERROR' && behaviour.profile === 'kip') {
      broken.push('UNKNOWN_SERVER_ERROR ends the client');
    }
    if (broken.length > 0) throw new Error(`After "${line}": ${broken.join('; ')}`);
  }
}

function plainly(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

/** One function per verb; the word may stand first, or second after a member's name. */
const VERBS: Readonly<Record<string, (player: Player, words: Words) => readonly string[]>> = {
  /** `topics in:4 other:2`; 0 deletes. */
  topics: ({ coordinator }, { plain }) => {
    for (const word of plain.slice(1)) {
      const [name = '', count] = word.split(':');
      coordinator.setTopic(name, Number(count));
    }
    return [];
  },
  /** `topology 0: in | in2 changelog=app-changelog`: what joins bring from now on, unless they name another epoch. */
  topology: (player, words) => {
    const topology = readTopology(words);
    player.topologyEpoch = topology.epoch;
    player.topologies.set(topology.epoch, topology);
    return [];
  },
  /** `set delay=3000 interval=1000 standbys=1 wait=0 handover=300 profile=kafka`. */
  set: ({ coordinator }, { named }) => {
    for (const [name, value] of named) {
      const setting = TRACE_SETTINGS[name];
      if (setting === undefined) throw new Error(`Unknown setting in a trace: ${name}`);
      setting(coordinator, value);
    }
    return [];
  },
  /** `A heartbeat epoch=3 own=0:[0-1] ..`; the words are those of {@link readHeartbeat}. */
  heartbeat: (player, words) => player.send(words),
  /** `A joins`: epoch 0 with the topology declared last and three empty lists. */
  joins: (player, words) =>
    player.send(words, { epoch: '0', own: '[]', topology: `${player.topologyEpoch}` }),
  /** `A leaves`. */
  leaves: (player, words) => player.send(words, { epoch: '-1' }),
  /** `S1 pauses instance=i1`: a static member's leave for a while. */
  pauses: (player, words) => player.send(words, { epoch: '-2' }),
  /** `clock +1000`: ms pass, timers fire. */
  clock: (player, { plain }) => {
    const outcome = player.coordinator.advance(Number((plain[1] ?? '').replace('+', '')));
    return outcome.records.length === 0 ? [] : player.show('', outcome);
  },
  /** `target A=0:[0]|0:[1] B=..`: every run from now on gives this; without members, what it finds best. */
  target: (player, { named }) => {
    player.assignor = named.size === 0 ? keepingAssignor : givenAssignor(named);
    return [];
  },
  /** What the last run was shown: what there is to share out, and each member. */
  problem: ({ problem }) => (problem === undefined ? ['shown: nothing'] : showProblem(problem)),
  /** Runs of the assignor stay out until they are released. */
  hold: ({ coordinator }) => {
    coordinator.holdRuns = true;
    return [];
  },
  /** `A release run=2`: the oldest run out ends, or the one named; the answer that waited for it is A's. */
  release: (player, { plain, named }) =>
    player.show(nameIn(plain), player.coordinator.release(runIn(named))),
  /** `A fails run=2`: the oldest run out, or the one named, fails. */
  fails: (player, { plain, named }) =>
    player.show(nameIn(plain), player.coordinator.fail('it broke', runIn(named))),
  /** `A waited`: the answer of A waited long enough. */
  waited: (player, { plain }) => player.show(nameIn(plain), player.coordinator.endWaits()),
  /** What follows `back` starts from what was when `keep` was said. */
  keep: (player) => {
    const backs = [player.coordinator.keep(), player.told.keep()];
    player.back = () => {
      for (const back of backs) back();
    };
    return [];
  },
  back: (player) => {
    player.back();
    return [];
  },
  /** The timers that run. */
  timers: ({ coordinator }) => [`timers: ${coordinator.timers.join(', ')}`],
  /** `fire session A`: a timer, by the name that `timers` gives it, fires now. */
  fire: (player, { plain }) => player.show('', player.coordinator.fire(plain.slice(1).join(' '))),
  /** The words of the last decision that had any. */
  why: (player) => player.because.map((words) => `  ${words}`),
  /** The words of the last answer: its error's, or those of its statuses. */
  words: ({ last: { answer } }) => [
    ...(answer?.errorMessage == null ? [] : [`  ${answer.errorMessage}`]),
    ...(answer?.statuses ?? []).map(({ detail }) => `  ${detail}`),
  ],
  /** Every member as it is stored. */
  members: ({ coordinator }) => showMembers(coordinator.slot.group),
  /** The group as StreamsGroupDescribe shows it. */
  describe: ({ coordinator: { slotOrNone, behaviour, settings } }) =>
    showDescribed(
      slotOrNone?.group === undefined
        ? describeMissing(GROUP_ID)
        : describeGroup(slotOrNone, { behaviour, settings }),
    ),
  /** `list states=stable,empty types=streams`: the group as ListGroups shows it, if it passes the filters. */
  list: ({ coordinator: { slotOrNone, behaviour } }, { named }) => {
    const filter = {
      states: (named.get('states') ?? '').split(',').filter((word) => word !== ''),
      types: (named.get('types') ?? '').split(',').filter((word) => word !== ''),
    };
    const listed = slotOrNone && listGroup(slotOrNone);
    if (listed === undefined || !matchesFilter(listed, filter, behaviour)) return ['listed: no'];
    return [`listed: ${listed.groupState}, ${listed.groupType}`];
  },
  /** DeleteGroups. */
  delete: (player) => deleteGroup(player),
  /** `A commits in-0,in-1 epoch=3`; `admin commits in-0 epoch=-1` commits without a member. */
  commits: ({ coordinator }, words) => commitOffsets(coordinator, words),
  /** `A fetches in-0 epoch=3`; `admin fetches in-0 epoch=-1` without a member. */
  fetches: ({ coordinator }, words) => fetchCommitted(coordinator, words),
  /** `forget in-0,in-1`: OffsetDelete. */
  forget: ({ coordinator }, words) => deleteOffsets(coordinator, words),
  /** The sweep for offsets that expired. */
  sweep: (player) => {
    const { coordinator } = player;
    const decision = decideExpiry(coordinator.slot, coordinator.context());
    if (decision === undefined) return ['swept: nothing'];
    return player.show('', coordinator.carryOut(silently(decision)));
  },
  /** Another coordinator takes over, with nothing but the log. */
  failover: (player) => player.show('', player.coordinator.failOver()),
  /** Topics the coordinator asked for since the last look. */
  created: ({ coordinator }) => [
    `asked for: ${[...new Set(coordinator.createdTopics.splice(0))].join(', ')}`,
  ],
};

/** The place of a run among those that are out, the oldest first. */
function runIn(named: Words['named']): number {
  return Number(named.get('run') ?? '1') - 1;
}

/** The member named before the verb, if one is. */
function nameIn(plain: readonly string[]): string {
  return plain.length > 1 ? (plain[0] ?? '') : '';
}

function deleteGroup(player: Player): readonly string[] {
  const { coordinator } = player;
  try {
    return player.show('', coordinator.carryOut(decideDelete(coordinator.slotOrNone)));
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    return [`deletion: ${refusal.error}`];
  }
}

function givenAssignor(named: ReadonlyMap<string, string>): TestAssignor {
  return (problem) => ({
    members: problem.members.map(({ memberId }) => {
      const [active = '[]', standby = '[]'] = (named.get(memberId) ?? '[]').split('|');
      return { active: readTasks(active), standby: readTasks(standby) };
    }),
    unassigned: [],
  });
}
