// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe.thumb;

/** 16-bit loads and stores. */
final class NarrowTransfers {
    private NarrowTransfers() {}

    static boolean literal(Machine m, int code) {
        m.set(code >>> 8 & 7, m.memory.read(m.literalBase() + (code & 0xff) * 4, 4));
        return true;
    }

    static boolean single(Machine m, int code) {
        int register = code & 7;
        int base = m.get(code >>> 3 & 7);
        int offset = code >>> 6 & 31;
        boolean load = (code & 1 << 11) != 0;
        switch (code >>> 12) {
            case 5 -> registerOffset(m, code >>> 9 & 7, register, base + m.get(code >>> 6 & 7));
            case 6 -> transfer(m, load, register, base + offset * 4, 4);
            case 7 -> transfer(m, load, register, base + offset, 1);
            case 8 -> transfer(m, load, register, base + offset * 2, 2);
            default -> transfer(m, load, code >>> 8 & 7, m.get(Registers.SP) + (code & 0xff) * 4, 4);
        }
        return true;
    }

    private static void registerOffset(Machine m, int kind, int register, int address) {
        switch (kind) {
            case 0 -> m.memory.write(address, 4, m.get(register));
            case 1 -> m.memory.write(address, 2, m.get(register));
            case 2 -> m.memory.write(address, 1, m.get(register));
            case 3 -> m.set(register, (byte) m.memory.read(address, 1));
            case 4 -> m.set(register, m.memory.read(address, 4));
            case 5 -> m.set(register, m.memory.read(address, 2));
            case 6 -> m.set(register, m.memory.read(address, 1));
            default -> m.set(register, (short) m.memory.read(address, 2));
        }
    }

    private static void transfer(Machine m, boolean load, int register, int address, int size) {
        if (load) {
            m.set(register, m.memory.read(address, size));
        } else {
            m.memory.write(address, size, m.get(register));
        }
    }

    /** PUSH and POP. */
    static boolean stack(Machine m, int code) {
        boolean load = (code & 1 << 11) != 0;
        int extra = (code & 0x100) == 0 ? 0 : 1 << (load ? Registers.PC : Registers.LR);
        int list = (code & 0xff) | extra;
        int sp = m.get(Registers.SP);
        int size = 4 * Integer.bitCount(list);
        block(m, load, list, load ? sp : sp - size);
        m.set(Registers.SP, load ? sp + size : sp - size);
        return true;
    }

    /** LDM and STM; a base register that is also loaded is not written back. */
    static boolean multiple(Machine m, int code) {
        boolean load = (code & 1 << 11) != 0;
        int base = code >>> 8 & 7;
        int list = code & 0xff;
        int start = m.get(base);
        block(m, load, list, start);
        if (!load || (list & 1 << base) == 0) {
            m.set(base, start + 4 * Integer.bitCount(list));
        }
        return true;
    }

    /** Transfers the registers of the list from or to ascending addresses. */
    static void block(Machine m, boolean load, int list, int start) {
        int address = start;
        for (int register = 0; register < 16; register++) {
            if ((list & 1 << register) != 0) {
                transfer(m, load, register, address, 4);
                address += 4;
            }
        }
    }
}
