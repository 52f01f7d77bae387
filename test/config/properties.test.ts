import { expect } from 'chai';
import fc from 'fast-check';
import { PropertiesError, parseProperties } from '../../src/config/properties.ts';

const read = (text: string) => Object.fromEntries(parseProperties(text));

/** Writes an entry so that every special character is escaped: slow and obvious. */
function written(key: string, value: string): string {
  const escaped = (text: string) =>
    [...Array(text.length).keys()]
      .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join('');
  return `${escaped(key)}=${escaped(value)}`;
}

describe('parseProperties()', () => {
  it('reads the three ways to end a key', () => {
    expect(read('a=1\nb : 2\nc 3\nd\n  e\t=  4')).to.deep.equal({
      a: '1',
      b: '2',
      c: '3',
      d: '',
      e: '4',
    });
  });

  it('skips comments and blank lines', () => {
    expect(read('# a=1\n  ! b=2\n\n   \nc=#3')).to.deep.equal({ c: '#3' });
  });

  it('joins lines at a backslash, and only at an odd number of them', () => {
    expect(read('a=1,\\\n    2,\\\r\n\t3\nb=c:\\\\\nd=4')).to.deep.equal({
      a: '1,2,3',
      b: 'c:\\',
      d: '4',
    });
  });

  it('does not take a joined line for a comment, nor a comment for an open line', () => {
    expect(read('# comment \\\na=1\\\n#2')).to.deep.equal({ a: '1#2' });
  });

  it('reads escapes in keys and values', () => {
    expect(read('a\\ b\\=c=\\t\\u0041\\q\\\\')).to.deep.equal({ 'a b=c': '\tAq\\' });
  });

  it('keeps the later of two lines with one key, and blanks at the end of a value', () => {
    expect(read('a=1\na=2 ')).to.deep.equal({ a: '2 ' });
  });

  it('ends well at a backslash that nothing follows', () => {
    expect(read('a=1\\')).to.deep.equal({ a: '1' });
  });

  it('names the line of a broken escape', () => {
    expect(() => parseProperties('a=1\nb=\\u00g1'))
      .to.throw(PropertiesError, 'Cannot read "\\u": wanted four hexadecimal digits')
      .with.property('line', 2);
  });

  it('gives back what was written, whatever the characters', () => {
    const text = fc.string({ unit: 'binary', maxLength: 8 });
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 6, noNullPrototype: true }), (entries) => {
        const file = Object.entries(entries).map(([key, value]) => written(key, value));
        expect([...parseProperties(file.join('\n'))].sort()).to.deep.equal(
          Object.entries(entries).sort(),
        );
      }),
    );
  });

  it('reads any text or says what is wrong with it', () => {
    const piece = fc.constantFrom('\\', 'u', '0', ' ', '=', ':', '\n', '\r', '#', 'a', '\t');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        try {
          parseProperties(pieces.join(''));
        } catch (error) {
          expect(error).to.be.instanceOf(PropertiesError);
        }
      }),
    );
  });
});
