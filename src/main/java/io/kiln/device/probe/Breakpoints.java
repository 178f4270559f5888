// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

/**
 * The flash patch and breakpoint unit of a Cortex-M4 (FPB). Its comparators cover only the code region, where this chip
 * executes nothing: they can be set, and never match.
 */
final class Breakpoints extends WordRegion {
    private static final int CONTROL = 0;
    private static final int KEY = 2;
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
}
