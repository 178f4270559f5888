// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.Memory;

/** An Arm memory access port (ADIv5 MEM-AP on an AHB): the debugger's access to the chip's bus. */
final class AccessPort {
    private static final int CSW = 0x00;
    private static final int TAR = 0x04;
    private static final int DRW = 0x0c;
    private static final int BD0 = 0x10;
    private static final int BD3 = 0x1c;
    private static final int BASE = 0xf8;
    private static final int IDR = 0xfc;
    private static final int IDENTIFICATION = 0x24770011;
    private static final int ROM_TABLE = 0xe00ff003;
    private static final int ENABLED = 1 << 6;
    /** Fields that software may set: size, address increment, protection and the like. */
    private static final int CSW_WRITABLE = 0xff000037;

    private final Memory bus;
    private int csw = ENABLED | 2;
    private int address;

    AccessPort(Memory bus) {
        this.bus = bus;
    }

    /** Reads a register; reading data advances the transfer address. */
    int read(int register) {
        if (register >= BD0 && register <= BD3) {
            return bus.read(banked(register), 4);
        }
        return switch (register) {
            case CSW -> csw;
            case TAR -> address;
            case DRW -> readData();
            case BASE -> ROM_TABLE;
            case IDR -> IDENTIFICATION;
            default -> 0;
        };
    }

    /** Writes a register; writing data advances the transfer address. */
    void write(int register, int value) {
        if (register >= BD0 && register <= BD3) {
            bus.write(banked(register), 4, value);
        } else if (register == CSW) {
            csw = (value & CSW_WRITABLE) | ENABLED;
        } else if (register == TAR) {
            address = value;
        } else if (register == DRW) {
            writeData(value);
        }
    }

    private int banked(int register) {
        return (address & ~15) | (register & 12);
    }

    private int size() {
        return 1 << Math.min(csw & 7, 2);
    }

    private boolean increments() {
        return (csw & 0x30) != 0;
    }

    /** Accesses per transfer: several for packed transfers, otherwise one. */
    private int accesses() {
        return (csw & 0x30) == 0x20 ? 4 / size() : 1;
    }

    private int readData() {
        int size = size();
        int word = 0;
        for (int i = accesses(); i > 0; i--) {
            word |= bus.read(address, size) << (8 * (address & 3));
            address += increments() ? size : 0;
        }
        return word;
    }

    private void writeData(int word) {
        int size = size();
        for (int i = accesses(); i > 0; i--) {
            bus.write(address, size, word >>> (8 * (address & 3)));
            address += increments() ? size : 0;
        }
    }
}
