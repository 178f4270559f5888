// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/**
 * The operand that Arm's barrel shifter makes.
 *
 * @param value the result
 * @param carry the last bit shifted out, or the carry flag if there was none
 */
record Shifter(int value, boolean carry) {
    /** Shift by a register: amounts from 0 to 255. Types: 0 LSL, 1 LSR, 2 ASR, 3 ROR. */
    static Shifter byAmount(int value, int type, int amount, boolean carry) {
        if (amount == 0) {
            return new Shifter(value, carry);
        }
        return switch (type) {
            case 0 ->
                new Shifter(amount < 32 ? value << amount : 0, amount <= 32 && (value >>> (32 - amount) & 1) != 0);
            case 1 ->
                new Shifter(amount < 32 ? value >>> amount : 0, amount <= 32 && (value >>> (amount - 1) & 1) != 0);
            case 2 -> new Shifter(value >> Math.min(amount, 31), (value >> Math.min(amount - 1, 31) & 1) != 0);
            default -> {
                int rotated = Integer.rotateRight(value, amount);
                yield new Shifter(rotated, rotated < 0);
            }
        };
    }

    /** Shift by an immediate: 0 means 32 in LSR and ASR, and rotate with extend in ROR. */
    static Shifter byImmediate(int value, int type, int amount, boolean carry) {
        if (amount == 0 && type == 3) {
            return new Shifter(value >>> 1 | (carry ? 1 << 31 : 0), (value & 1) != 0);
        }
        return byAmount(value, type, amount == 0 && type != 0 ? 32 : amount, carry);
    }

    /** A 12-bit modified immediate (i:imm3:imm8) of wide data processing instructions. */
    static Shifter modifiedImmediate(int immediate, boolean carry) {
        int low = immediate & 0xff;
        return switch (immediate >>> 8) {
            case 0 -> new Shifter(low, carry);
            case 1 -> new Shifter(low * 0x10001, carry);
            case 2 -> new Shifter(low * 0x1000100, carry);
            case 3 -> new Shifter(low * 0x1010101, carry);
            default -> byAmount(0x80 | (immediate & 0x7f), 3, immediate >>> 7, carry);
        };
    }
}
