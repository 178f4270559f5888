// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.probe;

import io.kiln.device.probe.thumb.BusFault;

/**
 * The part of the system memory with one-time programmable bytes (here always unused and never written), identity and
 * size.
 */
final class SystemMemory extends WordRegion {
    private static final int BASE = 0x1fff7800;
    private static final int OTP_END = 0x210;
    private static final int UNIQUE_ID = 0x210;
    private static final int FLASH_SIZE = 0x220;

    private final int kibibytes;

    SystemMemory(int kibibytes) {
        super(BASE, 0x800);
        this.kibibytes = kibibytes;
    }

    @Override
    int readWord(int offset) {
        if (offset < OTP_END) {
            return -1;
        }
        return switch (offset) {
            case UNIQUE_ID -> 0x004b494c;
            case UNIQUE_ID + 4 -> 0x4e30300a;
            case FLASH_SIZE -> kibibytes << 16 | 0xffff;
            default -> 0;
        };
    }

    @Override
    void writeWord(int offset, int value) {
        throw new BusFault(BASE + offset);
    }
}
