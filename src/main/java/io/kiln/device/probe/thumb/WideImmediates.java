// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 32-bit instructions with a plain immediate: ADDW, SUBW, ADR, MOVW, MOVT and bit fields. */
final class WideImmediates {
    private WideImmediates() {}

    static boolean execute(Machine m, int first, int second) {
        int target = second >>> 8 & 15;
        int source = first & 15;
        int immediate = WideArithmetic.immediate12(first, second);
        int low = (second >>> 10 & 0x1c) | (second >>> 6 & 3);
        int width = second & 31;
        int base = source == Registers.PC ? m.literalBase() : m.get(source);
        switch (first >>> 4 & 31) {
            case 0 -> m.set(target, base + immediate);
            case 4 -> m.set(target, source << 12 | immediate);
            case 10 -> m.set(target, base - immediate);
            case 12 -> m.set(target, source << 28 | immediate << 16 | (m.get(target) & 0xffff));
            case 20 -> m.set(target, base << (31 - low - width) >> (31 - width));
            case 22 -> {
                int mask = -1 >>> (31 - width + low) << low;
                int inserted = source == Registers.PC ? 0 : m.get(source) << low & mask;
                m.set(target, (m.get(target) & ~mask) | inserted);
            }
            case 28 -> m.set(target, base << (31 - low - width) >>> (31 - width));
            default -> {
                return false;
            }
        }
        return true;
    }
}
