import type { Decoder, Encoder } from './compile.ts';
import { compileDecoder, compileEncoder } from './compile.ts';
import type { AnyMessage } from './schema.ts';
import { WireError } from './wire-error.ts';

/**
 * The decoders and encoders of one message by version, each made when it is first used.
 *
 * @throws WireError when asked for a version that the message does not have.
 */
export class Codecs {
  private readonly decoders: (Decoder<unknown> | undefined)[] = [];
  private readonly encoders: (Encoder | undefined)[] = [];
  private readonly title: string;
  private readonly message: AnyMessage | undefined;

  /**
   * @param title what errors call it, for example `The request Metadata`.
   * @param message undefined when the message is not known here: every version is refused.
   */
  constructor(title: string, message: AnyMessage | undefined) {
    this.title = title;
    this.message = message;
  }

  decoder(version: number): Decoder<unknown> {
    const known = this.decoders[version];
    if (known !== undefined) return known;
    const made = compileDecoder(this.checked(version), version);
    this.decoders[version] = made;
    return made;
  }

  encoder(version: number): Encoder {
    const known = this.encoders[version];
    if (known !== undefined) return known;
    const made = compileEncoder(this.checked(version), version);
    this.encoders[version] = made;
    return made;
  }

  private checked(version: number): AnyMessage {
    const { message, title } = this;
    if (message === undefined) throw new WireError(`${title} is not known here`, 0);
    const { minVersion, maxVersion } = message;
    if (!Number.isInteger(version) || version < minVersion || version > maxVersion) {
      const range = `${minVersion} to ${maxVersion}`;
      throw new WireError(`${title} has no version ${version}, known are ${range}`, 0);
    }
    return message;
  }
}
