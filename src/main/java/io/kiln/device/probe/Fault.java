// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import java.time.Duration;

/**
 * Faults of a probe and a chip. Counts of programmed bytes start when the probe is started; an address is one of the
 * chip's flash, from 0x08000000 on.
 */
public sealed interface Fault {
    /** The core's TAP has this IDCODE, as another chip or a bad line would. */
    record WrongTapId(int idCode) implements Fault {}

    /** DBGMCU_IDCODE has this value, as another chip than the board's would. */
    record WrongChipId(int idCode) implements Fault {}

    /** Programming this byte fails with a programming sequence error and changes nothing. */
    record WriteError(int address) implements Fault {}

    /** The option bytes protect this sector (0 to 11) against erasing and programming. */
    record ProtectedSector(int sector) implements Fault {}

    /** The option bytes lock the flash against reading (level 1). */
    record ReadProtected() implements Fault {}

    /** When the byte at this address is programmed, this bit (0 to 7) is inverted. */
    record FlippedBit(int address, int bit) implements Fault {}

    /** The probe closes the connection after this many programmed bytes; 0: at once. */
    record ConnectionDropped(long afterBytes) implements Fault {}

    /** The probe keeps the connection but stops answering after this many programmed bytes; 0: from the start. */
    record Silence(long afterBytes) implements Fault {}

    /** The chip loses its power after this many programmed bytes, and with it all but the flash; the probe stays on. */
    record PowerLost(long afterBytes) implements Fault {}

    /** The probe takes this long for each exchange of up to 512 characters. */
    record SlowProbe(Duration exchange) implements Fault {}
}
