import { expect } from 'chai';
import fc from 'fast-check';
import { type Length, Mailbox } from '../../actors/mailbox.ts';
import { TURN_MS_MAX, Turns, type TurnTaker } from '../../actors/turns.ts';

/** A message that says what it costs, ms, and is told when it was taken and when its answer left. */
type Work = {
  readonly group: string;
  readonly length: Length;
  readonly costMs: number;
  readonly atMs: number;
  takenAtMs?: number;
  leftAtMs?: number;
};

type Coming = Work & { readonly shard: number };
type Shard = { readonly mailbox: Mailbox<Work>; readonly taker: TurnTaker };

/** Shards that only let time pass, on a loop that reads its sockets between turns. */
class Loop {
  nowMs = 0;
  readonly #soon: (() => void)[] = [];
  readonly #turns = new Turns(
    { monotonicMs: () => this.nowMs, soon: (callback) => this.#soon.push(callback) },
    { processed: (ms) => this.turnsMs.push(ms) },
  );
  readonly #shards: readonly Shard[];
  readonly turnsMs: number[] = [];
  /** What was taken, by turn. */
  readonly taken: Work[][] = [[]];

  constructor(shardCount: number) {
    this.#shards = Array.from({ length: shardCount }, () => this.#makeShard());
  }

  #makeShard(): Shard {
    const mailbox = new Mailbox<Work>({
      limit: 1000,
      lineOf: ({ group }) => group,
      lengthOf: ({ length }) => length,
    });
    const taker: TurnTaker = {
      waits: (length) => mailbox.has(length),
      take: (length) => {
        const work = mailbox.take(length) as Work;
        work.takenAtMs = this.nowMs;
        this.nowMs += work.costMs;
        this.taken.at(-1)?.push(work);
      },
      endTurn: () => {},
    };
    return { mailbox, taker };
  }

  post(shard: number, work: Work): void {
    const { mailbox, taker } = this.#shards[shard] as Shard;
    mailbox.push(work);
    this.#turns.ask(taker);
  }

  /** Goes on until nothing waits; each message comes when it is due, but no turn is interrupted for it. */
  run(coming: readonly Coming[]): void {
    const rest = coming.toSorted((a, b) => a.atMs - b.atMs);
    while (rest.length > 0 || this.#soon.length > 0) {
      if (this.#soon.length === 0) this.nowMs = Math.max(this.nowMs, rest[0]?.atMs ?? 0);
      while (rest[0] !== undefined && rest[0].atMs <= this.nowMs) {
        const next = rest.shift() as Coming;
        this.post(next.shard, next);
      }
      this.taken.push([]);
      for (const callback of this.#soon.splice(0)) {
        callback();
        for (const work of this.taken.at(-1) ?? []) work.leftAtMs ??= this.nowMs;
      }
    }
  }
}

const groups = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const long = fc.record({
  group: groups,
  length: fc.constant<Length>('long'),
  // Sums of these are exact.
  costMs: fc.integer({ min: 1, max: 80 }).map((sixteenths) => sixteenths / 16),
  atMs: fc.nat({ max: 20 }),
});
const short = fc.record({
  group: fc.constantFrom('p', 'q', 'r'),
  length: fc.constant<Length>('short'),
  costMs: fc.constantFrom(1 / 64, 3 / 64),
  atMs: fc.nat({ max: 20 }),
});

/** The same group is always in the same shard. */
function shardOf(group: string): number {
  return group.charCodeAt(0) % 3;
}

describe('Turns', () => {
  it('a short message is answered after the turn under way and short ones, however many long ones wait', () => {
    fc.assert(
      fc.property(
        fc.array(long, { maxLength: 40 }),
        fc.array(short, { minLength: 1, maxLength: 15 }),
        (longs, shorts) => {
          const works: Coming[] = [...longs, ...shorts].map((work) => ({
            ...work,
            shard: shardOf(work.group),
          }));
          const loop = new Loop(3);
          loop.run(works);
          // Until their time is over a turn begins one more long one; all the short ones are of less than one turn.
          const longMs = TURN_MS_MAX.long + Math.max(0, ...longs.map(({ costMs }) => costMs));
          const shortMs = shorts.reduce((sum, { costMs }) => sum + costMs, 0);
          for (const { length, atMs, leftAtMs } of works) {
            if (length === 'long') continue;
            expect(leftAtMs).to.be.within(atMs, atMs + longMs + shortMs);
          }
        },
      ),
    );
  });

  it('no message is begun when the time for those of its length is over; short ones come first', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(long, short), { minLength: 1, maxLength: 60 }), (some) => {
        const loop = new Loop(3);
        loop.run(some.map((work) => ({ ...work, shard: shardOf(work.group) })));
        const works = loop.taken.flat();
        expect(works).to.have.lengthOf(some.length);
        for (const turn of loop.taken) {
          for (const length of ['short', 'long'] as const) {
            const startsMs = turn
              .filter((work) => work.length === length)
              .map(({ takenAtMs }) => takenAtMs ?? Infinity);
            const [first = 0] = startsMs;
            for (const ms of startsMs) expect(ms).to.be.below(first + TURN_MS_MAX[length]);
          }
          expect(turn.map(({ length }) => length).join()).to.match(/^(short,?)*(long,?)*$/);
        }
      }),
    );
  });

  it('long messages go on where short ones take all of the time', () => {
    const loop = new Loop(2);
    const shorts = Array.from({ length: 50 }, (_, atMs) => ({
      ...({ group: 'p', length: 'short', costMs: TURN_MS_MAX.short, atMs, shard: 0 } as const),
    }));
    const longs = Array.from({ length: 5 }, () => ({
      ...({ group: 'a', length: 'long', costMs: 1, atMs: 0, shard: 1 } as const),
    }));
    loop.run([...shorts, ...longs]);
    const firstTurns = loop.taken.filter((turn) => turn.length > 0).slice(0, 5);
    expect(firstTurns.map((turn) => turn.map(({ length }) => length))).to.deep.equal(
      Array.from({ length: 5 }, () => ['short', 'long']),
    );
  });

  it('shards take turns as groups do: one with many messages holds up no other', () => {
    const loop = new Loop(2);
    const many = Array.from({ length: 6 }, (_, nth) => ({
      ...({ group: `a${nth}`, length: 'long', costMs: 1, atMs: 0, shard: 0 } as const),
    }));
    const one = { group: 'b', length: 'long', costMs: 1, atMs: 0, shard: 1 } as const;
    loop.run([...many, one]);
    const order = loop.taken.flat().map(({ group }) => group);
    expect(order).to.deep.equal(['a0', 'b', 'a1', 'a2', 'a3', 'a4', 'a5']);
  });

  it('is told what each turn took', () => {
    const loop = new Loop(1);
    const work = { group: 'a', length: 'long', atMs: 0, shard: 0 } as const;
    loop.run([0.25, 0.75, 3].map((costMs) => ({ ...work, costMs })));
    expect(loop.turnsMs).to.deep.equal([1, 3]);
  });
});
