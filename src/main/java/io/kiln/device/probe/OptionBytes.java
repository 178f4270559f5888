// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/** The option bytes of an STM32F4, in the layout of FLASH_OPTCR. */
final class OptionBytes {
    private static final int LOCK = 1;
    private static final int START = 2;
    private static final int FACTORY = 0x0fffaaec;
    private static final int OPEN = 0xaa;
    private static final int FIRST_KEY = 0x08192a3b;
    private static final int SECOND_KEY = 0x4c5d6e7f;

    private final KeySequence keys = new KeySequence(FIRST_KEY, SECOND_KEY);
    private int stored = FACTORY;
    private int pending = FACTORY;

    OptionBytes(Faults faults) {
        faults.all(Fault.ProtectedSector.class).forEach(fault -> stored &= ~(1 << (16 + fault.sector())));
        if (faults.find(Fault.ReadProtected.class).isPresent()) {
            stored &= ~0xff00;
        }
        pending = stored;
    }

    /**
     * Whether a sector can be neither erased nor programmed: its nWRP bit is 0, or a debugger is attached to a
     * read-protected chip.
     */
    boolean refuses(int sector) {
        return readProtected() || (stored & 1 << (16 + sector)) == 0;
    }

    /** Whether the flash cannot be read (RDP is not level 0). */
    boolean readProtected() {
        return (stored >>> 8 & 0xff) != OPEN;
    }

    void key(int address, int value) {
        keys.enter(address, value);
    }

    void lock() {
        keys.lock();
        pending = stored;
    }

    int read() {
        return pending | (keys.unlocked() ? 0 : LOCK);
    }

    /**
     * Writes FLASH_OPTCR; ignored while locked.
     *
     * @return whether the whole flash must be erased, because read protection was given up
     */
    boolean write(int value) {
        if (!keys.unlocked()) {
            return false;
        }
        pending = (value & FACTORY & ~0xff00) | (value & 0xff00);
        boolean wasProtected = readProtected();
        if ((value & START) != 0) {
            stored = pending;
        }
        if ((value & LOCK) != 0) {
            keys.lock();
        }
        return wasProtected && !readProtected();
    }
}
