// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 32-bit loads and stores: single, dual and multiple, and table branches. No exclusive access. */
final class WideTransfers {
    private WideTransfers() {}

    static boolean single(Machine m, int first, int second) {
        int size = 1 << (first >>> 5 & 3);
        boolean load = (first & 0x10) != 0;
        boolean signed = (first & 0x100) != 0;
        int register = second >>> 12;
        if (size == 8 || (signed && (!load || size == 4))) {
            return false;
        }
        int base = first & 15;
        if (base == Registers.PC) {
            int distance = (first & 0x80) != 0 ? second & 0xfff : -(second & 0xfff);
            return load && transfer(m, true, signed, register, m.literalBase() + distance, size);
        }
        int start = m.get(base);
        if ((first & 0x80) != 0) {
            return transfer(m, load, signed, register, start + (second & 0xfff), size);
        }
        if ((second & 0x800) == 0) {
            int index = m.get(second & 15) << (second >>> 4 & 3);
            return (second & 0x7c0) == 0 && transfer(m, load, signed, register, start + index, size);
        }
        int distance = (second & 0x200) != 0 ? second & 0xff : -(second & 0xff);
        boolean before = (second & 0x400) != 0;
        boolean writeBack = (second & 0x100) != 0;
        if ((!before && !writeBack) || !transfer(m, load, signed, register, before ? start + distance : start, size)) {
            return false;
        }
        // A base register that is also loaded keeps the loaded value.
        if (writeBack && !(load && base == register)) {
            m.set(base, start + distance);
        }
        return true;
    }

    private static boolean transfer(Machine m, boolean load, boolean signed, int register, int address, int size) {
        if (!load) {
            m.memory.write(address, size, m.get(register));
            return true;
        }
        if (register == Registers.PC && size < 4) {
            // A preload hint.
            return true;
        }
        int value = m.memory.read(address, size);
        int unused = 32 - 8 * size;
        m.set(register, signed ? value << unused >> unused : value);
        return true;
    }

    static boolean multipleOrDual(Machine m, int first, int second) {
        if ((first & 0x40) == 0) {
            return multiple(m, first, second);
        }
        if ((first & 0xfff0) == 0xe8d0 && (second & 0xffe0) == 0xf000) {
            return tableBranch(m, first, second);
        }
        return (first & 0x120) != 0 && dual(m, first, second);
    }

    private static boolean multiple(Machine m, int first, int list) {
        int mode = first >>> 7 & 3;
        boolean load = (first & 0x10) != 0;
        int base = first & 15;
        int size = 4 * Integer.bitCount(list);
        if (mode != 1 && mode != 2) {
            return false;
        }
        int start = m.get(base);
        NarrowTransfers.block(m, load, list, mode == 1 ? start : start - size);
        if ((first & 0x20) != 0) {
            m.set(base, mode == 1 ? start + size : start - size);
        }
        return true;
    }

    private static boolean dual(Machine m, int first, int second) {
        int base = first & 15;
        boolean load = (first & 0x10) != 0;
        int offset = (second & 0xff) * 4;
        int distance = (first & 0x80) != 0 ? offset : -offset;
        int start = base == Registers.PC ? m.literalBase() : m.get(base);
        int address = (first & 0x100) != 0 ? start + distance : start;
        transfer(m, load, false, second >>> 12, address, 4);
        transfer(m, load, false, second >>> 8 & 15, address + 4, 4);
        if ((first & 0x20) != 0) {
            m.set(base, start + distance);
        }
        return true;
    }

    private static boolean tableBranch(Machine m, int first, int second) {
        int base = m.get(first & 15);
        int index = m.get(second & 15);
        boolean halves = (second & 0x10) != 0;
        int entry = halves ? m.memory.read(base + index * 2, 2) : m.memory.read(base + index, 1);
        m.branch(m.get(Registers.PC) + entry * 2);
        return true;
    }
}
