// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/** The flash patch and breakpoint unit of a Cortex-M4 (FPB): six comparators of instruction addresses. Patching is not there. */
final class Breakpoints extends WordRegion {
    private static final int CONTROL = 0;
    private static final int KEY = 2;
    private static final int CODE_COMPARATORS = 6;
    /** Six code and two literal comparators. */
    private static final int IDENTITY = 0x260;

    Breakpoints() {
        super(0xe0002000, 0x1000);
    }

    @Override
    int readWord(int offset) {
        return offset == CONTROL ? super.readWord(CONTROL) | IDENTITY : super.readWord(offset);
    }

    @Override
    void writeWord(int offset, int value) {
        if (offset != CONTROL) {
            super.writeWord(offset, value);
        } else if ((value & KEY) != 0) {
            super.writeWord(CONTROL, value & 1);
        }
    }

    /** Whether a comparator stops the core before the instruction at this address. */
    boolean match(int address) {
        if (super.readWord(CONTROL) == 0) {
            return false;
        }
        int half = (address & 2) == 0 ? 1 : 2;
        for (int i = 0; i < CODE_COMPARATORS; i++) {
            int comparator = super.readWord(8 + 4 * i);
            boolean enabled = (comparator & 1) != 0 && (comparator >>> 30 & half) != 0;
            if (enabled && (comparator & 0x1ffffffc) == (address & ~3)) {
                return true;
            }
        }
        return false;
    }
}
