// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.FlashCells.FlashSectors;
import io.kiln.device.probe.thumb.BusFault;
import java.util.List;

/**
 * The flash interface of an STM32F405 (RM0090, chapter 3): keys, erasing, programming with the access size in PSIZE,
 * error flags. Operations complete at once, so BSY is never set.
 */
final class FlashController extends WordRegion {
    static final int BASE = 0x40023c00;
    static final int WRPERR = 1 << 4;
    static final int PGAERR = 1 << 5;
    static final int PGPERR = 1 << 6;
    static final int PGSERR = 1 << 7;

    private static final int KEYR = 0x04;
    private static final int OPTKEYR = 0x08;
    private static final int SR = 0x0c;
    private static final int CR = 0x10;
    private static final int OPTCR = 0x14;
    private static final int PG = 1;
    private static final int SER = 1 << 1;
    private static final int MER = 1 << 2;
    private static final int STRT = 1 << 16;
    private static final int LOCK = 1 << 31;
    private static final int CR_STORED = 0x0300037f & ~STRT;
    /** Bytes of a row; programming happens in rows, and an access must not cross one. */
    private static final int ROW = 16;

    private final KeySequence keys = new KeySequence(0x45670123, 0xcdef89ab);
    private final FlashCells cells;
    private final OptionBytes options;
    private final List<Fault.WriteError> writeErrors;
    private int status;
    private int control;

    FlashController(FlashCells cells, Faults faults) {
        super(BASE, 0x400);
        this.cells = cells;
        this.options = new OptionBytes(faults);
        this.writeErrors = faults.all(Fault.WriteError.class).toList();
    }

    /** A system reset; option bytes keep their values. */
    void reset() {
        keys.reset();
        options.lock();
        status = 0;
        control = 0;
    }

    boolean readProtected() {
        return options.readProtected();
    }

    @Override
    int readWord(int offset) {
        return switch (offset) {
            case KEYR, OPTKEYR -> 0;
            case SR -> status;
            case CR -> control | (keys.unlocked() ? 0 : LOCK);
            case OPTCR -> options.read();
            default -> super.readWord(offset);
        };
    }

    @Override
    void writeWord(int offset, int value) {
        switch (offset) {
            case KEYR -> keys.enter(BASE + KEYR, value);
            case OPTKEYR -> options.key(BASE + OPTKEYR, value);
            case SR -> status &= ~value;
            case CR -> writeControl(value);
            case OPTCR -> {
                if (options.write(value)) {
                    cells.eraseAll();
                }
            }
            default -> super.writeWord(offset, value);
        }
    }

    /** A write access to the flash itself, by the debugger or the core. */
    void program(int offset, int size, int value) {
        int error = programmingError(offset, size);
        status |= error;
        if (error == 0) {
            cells.program(offset, size, value);
        }
    }

    private int programmingError(int offset, int size) {
        boolean injected = writeErrors.stream()
                .mapToInt(fault -> fault.address() - FlashArray.BASE)
                .anyMatch(at -> at >= offset && at < offset + size);
        if ((control & PG) == 0 || !keys.unlocked() || injected) {
            return PGSERR;
        }
        if (size != 1 << (control >>> 8 & 3)) {
            return PGPERR;
        }
        if (offset % ROW + size > ROW) {
            return PGAERR;
        }
        return options.refuses(FlashSectors.of(offset)) ? WRPERR : 0;
    }

    private void writeControl(int value) {
        if (!keys.unlocked()) {
            return;
        }
        control = value & CR_STORED;
        if ((value & LOCK) != 0) {
            keys.lock();
        } else if ((value & STRT) != 0 && cells.powered()) {
            erase();
        }
    }

    private void erase() {
        if ((control & MER) != 0) {
            eraseSectors(FlashSectors.inMask((1 << FlashSectors.COUNT) - 1));
        } else if ((control & SER) != 0) {
            int sector = control >>> 3 & 15;
            if (sector < FlashSectors.COUNT) {
                eraseSectors(List.of(sector));
            } else {
                status |= PGSERR;
            }
        }
    }

    private void eraseSectors(List<Integer> sectors) {
        if (sectors.stream().anyMatch(options::refuses)) {
            status |= WRPERR;
        } else {
            sectors.forEach(cells::eraseSector);
        }
    }

    /** The option bytes of an STM32F4, in the layout of FLASH_OPTCR. */
    private static final class OptionBytes {
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

        /** Whether a sector can be neither erased nor programmed: its nWRP bit is 0, or a debugger is attached to a read-protected chip. */
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

    /** A lock opened by two keys in sequence. A wrong key faults and jams the lock until reset. */
    private static final class KeySequence {
        private final int first;
        private final int second;
        private State state = State.LOCKED;

        private enum State {
            LOCKED,
            FIRST_TAKEN,
            UNLOCKED,
            JAMMED
        }

        KeySequence(int first, int second) {
            this.first = first;
            this.second = second;
        }

        boolean unlocked() {
            return state == State.UNLOCKED;
        }

        /** Handles a key written to this register. */
        void enter(int address, int key) {
            if (state == State.LOCKED && key == first) {
                state = State.FIRST_TAKEN;
            } else if (state == State.FIRST_TAKEN && key == second) {
                state = State.UNLOCKED;
            } else {
                state = State.JAMMED;
                throw new BusFault(address);
            }
        }

        /** Locks; a jammed lock stays jammed. */
        void lock() {
            if (state != State.JAMMED) {
                state = State.LOCKED;
            }
        }

        void reset() {
            state = State.LOCKED;
        }
    }
}
