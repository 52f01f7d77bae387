import { expect } from 'chai';
import { Mailbox } from '../../actors/mailbox.ts';
import { lengthOf, lineOf, type Message } from '../../actors/messages.ts';

function question(groupId: string | undefined, length: 'short' | 'long'): Message {
  return {
    kind: 'question',
    of: 'applied',
    groupId,
    length,
    ask: () => undefined,
    refuse: () => undefined,
    reply: () => {},
  };
}

describe('messages of a shard', () => {
  it('come after the news of topics that came before them, whoever asks about all groups', () => {
    const box = new Mailbox<Message>({ limit: 10, lineOf, lengthOf });
    const list = question(undefined, 'long');
    const news: Message = { kind: 'topicsChanged', names: new Set(['t']) };
    const later = question('g', 'short');
    for (const each of [list, news, later]) box.push(each);
    expect([box.take('short'), box.take('short'), box.take('short')]).to.deep.equal([
      news,
      later,
      undefined,
    ]);
    expect(box.take('long')).to.equal(list);
  });
});
