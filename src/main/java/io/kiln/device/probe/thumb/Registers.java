// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

import java.util.Arrays;

/** The registers of a core: r0 to r15, flags and IT state. Mutable; not thread-safe. */
public final class Registers {
    public static final int SP = 13;
    public static final int LR = 14;
    public static final int PC = 15;

    private static final int THUMB = 1 << 24;

    private final int[] values = new int[16];
    boolean negative;
    boolean zero;
    boolean carry;
    boolean overflow;

    /** State of an IT block as in Armv7-M: condition in bits 7:4, rest of the block's mask in 3:0; 0 outside of a block. */
    int itState;

    /** The value of a register; for {@link #PC} the address of the next instruction. */
    public int get(int register) {
        return values[register];
    }

    /** Sets a register. The lowest bit of the program counter and the lowest two bits of the stack pointer are cleared. */
    public void set(int register, int value) {
        values[register] = switch (register) {
            case PC -> value & ~1;
            case SP -> value & ~3;
            default -> value;
        };
    }

    /** Flags, IT state and the Thumb bit, in the layout of the program status register. */
    public int programStatus() {
        return (negative ? 1 << 31 : 0)
                | (zero ? 1 << 30 : 0)
                | (carry ? 1 << 29 : 0)
                | (overflow ? 1 << 28 : 0)
                | (itState & 3) << 25
                | (itState >>> 2) << 10
                | THUMB;
    }

    /** Sets flags and IT state; the Thumb bit is always set here. */
    public void setProgramStatus(int value) {
        negative = value < 0;
        zero = (value & 1 << 30) != 0;
        carry = (value & 1 << 29) != 0;
        overflow = (value & 1 << 28) != 0;
        itState = (value >>> 25 & 3) | (value >>> 8 & 0xfc);
    }

    /** The whole state for comparison: r0 to r15 and the program status. */
    public int[] snapshot() {
        int[] all = Arrays.copyOf(values, 17);
        all[16] = programStatus();
        return all;
    }

    void setNegativeZero(int result) {
        negative = result < 0;
        zero = result == 0;
    }

    boolean holds(int condition) {
        boolean holds = switch (condition >>> 1) {
            case 0 -> zero;
            case 1 -> carry;
            case 2 -> negative;
            case 3 -> overflow;
            case 4 -> carry && !zero;
            case 5 -> negative == overflow;
            case 6 -> negative == overflow && !zero;
            default -> true;
        };
        return ((condition & 1) == 0 || condition == 15) ? holds : !holds;
    }
}
